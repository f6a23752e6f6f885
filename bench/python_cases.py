"""The Python package: a call in memory beside the `limits` library, an await on Redis beside redis-py, and FastAPI with
brim's dependency beside the same app without a limiter and beside the plain recipe. Requests are allowed ones, of 200,000
clients in turn; two sliding windows each; one uvicorn worker.
"""

import contextlib
import tempfile

from http_cases import PEERS, wrk
from processes import Server, free_port, output_of, redis_server
from samples import Samples

APPS = ("none", "memory", "redis", "recipe")


@contextlib.contextmanager
def served(tools, app, folder):
    """The app on one uvicorn worker, with a Redis of its own."""
    with redis_server(free_port(), folder) as redis:
        port = free_port()
        stores = {"none": "", "memory": "memory://", "redis": f"redis://127.0.0.1:{redis.port}/0"}
        environment = {"REDIS_PORT": str(redis.port), "STORE": stores.get(app, "")}
        command = [tools.venv / "bin/uvicorn", "--app-dir", PEERS / ("fastapi" if app == "recipe" else "python"), "app:app",
                   "--port", port, "--workers", 1, "--no-access-log", "--log-level", "warning"]
        with Server(command, port, environment=environment) as server:
            yield server


def measure_app(tools, app, seconds, samples):
    with tempfile.TemporaryDirectory() as folder, served(tools, app, folder) as server:
        wrk(server.port, "reject", 1)  # warm: connections, code
        before = server.cpu_seconds()
        requests, refused = wrk(server.port, "allow", seconds)
        cpu = server.cpu_seconds() - before
    if refused / requests > 0.01:
        raise SystemExit(f"{app}: {refused} of {requests} requests were refused")
    samples.add(f"fastapi_{app}_cpu_us", cpu * 1e6 / requests)
    samples.add(f"fastapi_{app}_requests_per_s", requests / seconds)


def measure_call(tools, kind, seconds, port=0):
    return float(output_of([tools.venv / "bin/python", PEERS / "python/calls.py", kind, seconds, port]))


def measure(tools, rounds, seconds):
    samples = Samples()
    with tempfile.TemporaryDirectory() as folder, redis_server(free_port(), folder) as redis:
        for _ in range(rounds):
            for kind in ("memory_brim", "memory_limits"):
                samples.add(f"{kind}_ns", measure_call(tools, kind, seconds))
            for kind in ("await_brim", "await_redis_py"):
                samples.add(f"{kind}_us", measure_call(tools, kind, seconds, redis.port) / 1000)
    for _ in range(rounds):
        for app in APPS:
            measure_app(tools, app, seconds, samples)
    samples.ratio("fastapi_memory_cost", "fastapi_memory_cpu_us", "fastapi_none_cpu_us")
    samples.ratio("fastapi_redis_rate_ratio", "fastapi_redis_requests_per_s", "fastapi_recipe_requests_per_s")
    return samples
