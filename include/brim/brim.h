// All of brim's embedded API. Needs the standard library alone.
//
//   brim::MemoryStore store;
//   brim::Limiter limiter(store);
//   if (auto d = limiter.Check("user_8421", 5, 60s); !d.allowed())
//   std::this_thread::sleep_for(d.retry_after);
#pragma once

#include <brim/clock.h>
#include <brim/decision.h>
#include <brim/limit.h>
#include <brim/limiter.h>
#include <brim/memory_store.h>
#include <brim/result.h>
#include <brim/store.h>
#include <brim/version.h>
