"""What waits for real."""

import asyncio

import brim.aio


def test_a2_sixty_one_seconds_later_ten_more(redis_server):
    async def program():
        async with brim.aio.RateLimiter(redis_server.url, store_timeout_ms=5000) as limiter:
            for wait in (0, 61):
                await asyncio.sleep(wait)
                answers = await asyncio.gather(*(limiter.check("user_8421", 10, 60) for _ in range(20)))
                assert sorted(allowed for allowed, _, _ in answers) == [False] * 10 + [True] * 10

    asyncio.run(program())
