// All of brim's embedded API, but for the clock of tests (<brim/testing.h>). Needs the standard
// library alone.
//
//   brim::MemoryStore store;
//   brim::Limiter limiter(store);
//   const brim::Decision decision = limiter.Check("user_8421", 5, 60s);
//   if (!decision.allowed()) std::this_thread::sleep_for(decision.retry_after);
#pragma once

#include <brim/clock.h>
#include <brim/decision.h>
#include <brim/limit.h>
#include <brim/limiter.h>
#include <brim/memory_store.h>
#include <brim/result.h>
#include <brim/store.h>
#include <brim/version.h>
