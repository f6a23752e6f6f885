"""The plain recipe as it is usually written: FastAPI, a sync dependency, redis-py, two sliding windows."""

import os
import time
import uuid

import redis
from fastapi import Depends, FastAPI, HTTPException, Request

SCRIPT = """
local key, now, window, limit = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window * 1000)
local count = redis.call('ZCARD', key)
if count < limit then
  redis.call('ZADD', key, now, ARGV[4])
  redis.call('EXPIRE', key, window + 1)
  return {1, limit - count - 1, 0}
end
local oldest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
return {0, 0, math.max(1, math.ceil((tonumber(oldest[2]) + window * 1000 - now) / 1000))}
"""
TIERS = {"free": {60: 5, 86400: 100}}
NAMES = {60: "minute", 86400: "day"}

app = FastAPI()
client = redis.Redis(port=int(os.environ["REDIS_PORT"]))
script = client.register_script(SCRIPT)


def check(user_id, limit, window):
    now = int(time.time() * 1000)
    return script(keys=[f"ratelimit:{user_id}:{window}"], args=[now, window, limit, str(uuid.uuid4())])


def rate_limit(request: Request):
    user_id = request.headers.get("X-Client-Id", "anonymous")
    for window, limit in TIERS["free"].items():
        allowed, _, retry_after = check(user_id, limit, window)
        if not allowed:
            raise HTTPException(429, "Rate limit exceeded", {
                "Retry-After": str(retry_after), "X-RateLimit-Limit": str(limit), "X-RateLimit-Remaining": "0",
                "X-RateLimit-Window": NAMES[window]})


@app.get("/api/search", dependencies=[Depends(rate_limit)])
def search(q: str):
    return {"query": q, "results": []}
