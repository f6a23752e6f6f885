"""The app that test_fastapi.py serves by uvicorn: all that may stand around a limited endpoint."""

import asyncio
import os

from fastapi import APIRouter, BackgroundTasks, Depends, FastAPI, HTTPException, Request, WebSocket
from fastapi.responses import StreamingResponse

import brim.fastapi
from brim.fastapi import rate_limit

limiter = brim.fastapi.Limiter(
    os.environ["BRIM_STORE"], store_timeout_ms=float(os.environ.get("TIMEOUT_MS", "5000")),
    on_failure=os.environ.get("ON_FAILURE", "local"))
app = FastAPI()
brim.fastapi.install(app, limiter)
background = []


def authenticate(request: Request):
    if "X-User" in request.headers:
        request.state.user_id = request.headers["X-User"]
    if "X-Tier" in request.headers:
        request.state.tier = request.headers["X-Tier"]


def fail(request: Request):
    if "X-Fail" in request.headers:
        raise RuntimeError("a dependency fails")


by_tier = APIRouter(dependencies=[Depends(authenticate), Depends(rate_limit), Depends(fail)])


@by_tier.get("/sync")
def sync_endpoint():
    return {"kind": "sync"}


@by_tier.get("/async")
async def async_endpoint():
    return {"kind": "async"}


@by_tier.get("/missing")
async def missing():
    raise HTTPException(404, "no such thing")


app.include_router(by_tier, prefix="/tier")


@app.get("/items/{item}", dependencies=[Depends(limiter.limit("2/minute"))])
def item(item: int):
    return item


@app.get("/other/{item}", dependencies=[Depends(limiter.limit("2/minute"))])
def other(item: int):
    return item


@app.get("/two", dependencies=[Depends(limiter.limit("5/minute")), Depends(limiter.limit("3/hour"))])
async def two():
    return {}


@app.get("/stream", dependencies=[Depends(limiter.limit("2/minute"))])
async def stream():
    async def parts():
        for part in (b"one ", b"two ", b"three"):
            yield part
            await asyncio.sleep(0.05)

    return StreamingResponse(parts(), headers={"X-RateLimit-Limit": "not mine"})


@app.get("/background", dependencies=[Depends(limiter.limit("1000/minute"))])
async def in_background(tasks: BackgroundTasks):
    tasks.add_task(background.append, "done")
    return background


@app.websocket("/echo", dependencies=[Depends(limiter.limit("1/minute"))])
async def echo(socket: WebSocket):
    await socket.accept()
    async for text in socket.iter_text():
        await socket.send_text(text)
