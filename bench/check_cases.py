"""POST /v1/check of brim serve: on memory beside nginx limit_req, in batches, and on Redis beside nginx with Lua and the plain
recipe. CPU of the server a request; on Redis, of the front and Redis together.

The peers' requests are GETs with a header: brim's cost has JSON in and out beside that.
"""

import contextlib
import tempfile

import http_cases
from http_cases import PEERS
from processes import Server, free_port, output_of, redis_server
from samples import Samples

SLIDING, BUCKET = "5 per minute", "5 per minute token_bucket"
BATCH = 100


@contextlib.contextmanager
def brim(tools, store="memory://"):
    port = free_port()
    with Server([tools.build / "src/cli/brim", "serve", "--listen", f"127.0.0.1:{port}", "--admin-listen", "127.0.0.1:0",
                 "--shards", "1", "--store", store], port) as server:
        yield server


@contextlib.contextmanager
def nginx_lua(folder, redis_port):
    port = free_port()
    text = (PEERS / "nginx-lua/nginx.conf").read_text().replace("@PORT@", str(port)).replace("@REDIS@", str(redis_port))
    path = f"{folder}/nginx.conf"
    with open(path, "w") as file:
        file.write(text)
    with Server(["nginx", "-p", folder, "-c", path, "-e", "stderr"], port) as server:
        yield server


def check(port, kind, limit, seconds, connections):
    out = output_of(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", PEERS / "check.lua", f"http://127.0.0.1:{port}",
                     "--", kind, limit])
    return http_cases.counts(out)


def cpu_of(servers, load):
    """CPU seconds a request that these servers take together, and the part of the requests that was refused."""
    load(1)  # warm: connections, code, scripts
    before = sum(s.cpu_seconds() for s in servers)
    requests, refused = load(None)
    return (sum(s.cpu_seconds() for s in servers) - before) / requests, refused / requests


def on_memory(tools, seconds, samples):
    for kind in http_cases.KINDS:
        with brim(tools) as server:
            cpu, refused = cpu_of([server], lambda s: check(server.port, kind, SLIDING, s or seconds, 64))
        http_cases.expect(kind, refused, "brim serve")
        samples.add(f"{kind}_check_cpu_us", cpu * 1e6)
        with tempfile.TemporaryDirectory() as folder, http_cases.nginx(tools, folder) as server:
            cpu, refused = cpu_of([server], lambda s: http_cases.wrk(server.port, kind, s or seconds))
        http_cases.expect(kind, refused, "nginx")
        samples.add(f"{kind}_nginx_cpu_us", cpu * 1e6)
    with brim(tools) as server:
        cpu, _ = cpu_of([server], lambda s: check(server.port, "batch", SLIDING, s or seconds, 16))
    samples.add("batch_us", cpu * 1e6 / BATCH)


def on_redis(tools, seconds, samples):
    for name, limit in (("log", SLIDING), ("bucket", BUCKET)):
        with tempfile.TemporaryDirectory() as folder, redis_server(free_port(), folder) as redis, \
                brim(tools, f"redis://127.0.0.1:{redis.port}/0") as server:
            cpu, refused = cpu_of([server, redis], lambda s: check(server.port, "allow", limit, s or seconds, 64))
        http_cases.expect("allow", refused, "brim serve on Redis")
        samples.add(f"redis_{name}_cpu_us", cpu * 1e6)
    with tempfile.TemporaryDirectory() as folder, redis_server(free_port(), folder) as redis, \
            nginx_lua(folder, redis.port) as server:
        cpu, refused = cpu_of([server, redis], lambda s: http_cases.wrk(server.port, "allow", s or seconds))
    http_cases.expect("allow", refused, "nginx with Lua")
    samples.add("redis_lua_cpu_us", cpu * 1e6)


def measure(tools, rounds, seconds):
    samples = Samples()
    for _ in range(rounds):
        on_memory(tools, seconds, samples)
        on_redis(tools, seconds, samples)
    for kind in http_cases.KINDS:
        samples.ratio(f"{kind}_cpu_to_nginx", f"{kind}_check_cpu_us", f"{kind}_nginx_cpu_us")
    for name in ("log", "bucket"):
        samples.ratio(f"redis_{name}_under_lua", "redis_lua_cpu_us", f"redis_{name}_cpu_us")
    return samples
