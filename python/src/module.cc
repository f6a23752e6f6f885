// brim._brim: the engine as a Python module. It translates and decides nothing; what can be
// written in Python is (python/brim), and the types of all this are in python/brim/_brim.pyi.
#include <nanobind/nanobind.h>

#include "completions.h"
#include "decision.h"
#include "engine.h"
#include "limiter.h"
#include "limits.h"

NB_MODULE(_brim, module) {
  // Limiters that live until the process ends are no leak worth a warning to users.
  nanobind::set_leak_warnings(false);
  brim::python::BindLimits(module);
  brim::python::BindDecision(module);
  brim::python::BindEngine(module);
  brim::python::BindCompletions(module);
  brim::python::BindLimiters(module);
}
