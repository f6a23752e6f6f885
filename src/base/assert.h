// BRIM_ASSERT: on in every build. For brim's own bugs alone, one property an assert; never for what
// a client, a peer or an operator can cause.
#pragma once

#include <cstdio>
#include <cstdlib>

#define BRIM_ASSERT(property)                                                                      \
  do {                                                                                             \
    if (__builtin_expect(!(property), 0)) {                                                        \
      std::fprintf(stderr, "brim: bug: %s:%d: %s does not hold\n", __FILE__, __LINE__, #property); \
      std::abort();                                                                                \
    }                                                                                              \
  } while (false)
