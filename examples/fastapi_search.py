"""A search endpoint that each client may ask five times a minute (a fixed window; refused calls count too).

    BRIM_STORE=redis://127.0.0.1:6379/0 uvicorn --app-dir examples fastapi_search:app
    for i in 1 2 3 4 5 6; do curl -i -H 'X-Client-Id: me' 'http://127.0.0.1:8000/api/search?q=test'; done
    redis-cli GET ratelimit:me; redis-cli TTL ratelimit:me
"""

import os

from fastapi import Depends, FastAPI, HTTPException, Request

from brim import Limit
from brim.aio import Limiter

LIMIT = Limit(5, 60, algorithm="fixed_window", count="all", key="plain")
limiter = Limiter(os.environ.get("BRIM_STORE", "memory://"))
app = FastAPI()


def client_of(request: Request) -> str:
    return request.headers.get("X-Client-Id") or (request.client.host if request.client else "anonymous")


async def limit_client(request: Request) -> None:
    decision = await limiter.check(client_of(request), LIMIT)
    if not decision:
        detail = {"error": "rate limit exceeded", "retry_after": decision.retry_after}
        raise HTTPException(429, detail, {"Retry-After": str(decision.retry_after)})


@app.get("/api/search", dependencies=[Depends(limit_client)])
def search(q: str) -> dict[str, object]:
    return {"query": q, "results": []}
