"""What bench/python_cases.py measures in a process of its own: prints the CPU time of one call, in ns.

    calls.py KIND SECONDS [REDIS_PORT]      KIND: see KINDS
"""

import asyncio
import os
import pathlib
import sys
import time
import uuid

AT_ONCE = 100
RECIPE = (pathlib.Path(__file__).parents[1] / "fastapi/app.py").read_text().split('"""')[3]


def repeat(call, seconds):
    """CPU ns of one call, in rounds of a thousand."""
    end, calls, began = time.monotonic() + seconds, 0, time.process_time_ns()
    while time.monotonic() < end:
        for _ in range(1000):
            call()
        calls += 1000
    return (time.process_time_ns() - began) / calls


def memory_brim(seconds, _):
    import brim

    limiter = brim.RateLimiter("memory://")
    return repeat(lambda: limiter.check("user_8421", 5, 60), seconds)


def memory_limits(seconds, _):
    import limits

    strategy = limits.strategies.FixedWindowRateLimiter(limits.storage.MemoryStorage())
    item = limits.parse("5/minute")
    return repeat(lambda: strategy.hit(item, "user_8421"), seconds)


def awaited(make, seconds):
    """AT_ONCE tasks await one call after the other; the CPU time of all threads counts."""

    async def program():
        call = await make()
        end, calls = time.monotonic() + seconds, 0

        async def ask(name):
            nonlocal calls
            while time.monotonic() < end:
                await call(name)
                calls += 1

        began = time.process_time_ns()
        await asyncio.gather(*(ask(f"user_{i}") for i in range(AT_ONCE)))
        return (time.process_time_ns() - began) / calls

    return asyncio.run(program())


def await_brim(seconds, port):
    import brim
    import brim.aio

    async def make():
        limiter = brim.aio.Limiter(f"redis://127.0.0.1:{port}/0", store_timeout_ms=5000)
        limits = brim.Limits("60 per minute")
        return lambda name: limiter.check(name, limits)

    return awaited(make, seconds)


def await_redis_py(seconds, port):
    import redis.asyncio

    async def make():
        script = redis.asyncio.Redis(port=int(port)).register_script(RECIPE)
        return lambda name: script(
            keys=[f"ratelimit:{name}:60"], args=[int(time.time() * 1000), 60, 60, str(uuid.uuid4())])

    return awaited(make, seconds)


KINDS = {kind.__name__: kind for kind in (memory_brim, memory_limits, await_brim, await_redis_py)}

if __name__ == "__main__":
    os.environ.pop("RATE_LIMIT_DISABLED", None)
    print(KINDS[sys.argv[1]](float(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None))
