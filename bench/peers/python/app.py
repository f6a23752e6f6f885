"""The endpoint of ../fastapi/app.py with brim's dependency instead of the recipe, or with none (STORE is empty)."""

import os

from fastapi import Depends, FastAPI

from brim.fastapi import Limiter, RateLimit

store = os.environ["STORE"]
app = FastAPI()
dependencies = []
if store:
    limiter = Limiter(store, store_timeout_ms=5000)
    dependencies = [Depends(RateLimit(limiter=limiter, subject=lambda request: request.headers["X-Client-Id"]))]


@app.get("/api/search", dependencies=dependencies)
def search(q: str):
    return {"query": q, "results": []}
