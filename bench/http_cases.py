"""brim demo, nginx limit_req, and FastAPI with redis-py, each asked by wrk: CPU of the server a request.

Allowed: 200,000 clients in turn, who do not come five times. Refused: one client, over its limit from the
sixth request on. Each round has servers of its own, so that nobody has been seen before.
"""

import contextlib
import pathlib
import re
import tempfile

from processes import Server, free_port, output_of, redis_server
from samples import Samples

PEERS = pathlib.Path(__file__).parent / "peers"
KINDS = ("allow", "reject")


@contextlib.contextmanager
def brim(tools, folder):
    port = free_port()
    with Server([tools.build / "src/cli/brim", "demo", "--listen", f"127.0.0.1:{port}", "--shards", "1"], port) as server:
        yield server


@contextlib.contextmanager
def nginx(tools, folder):
    port = free_port()
    text = (PEERS / "nginx/nginx.conf").read_text().replace("@PORT@", str(port))
    path = pathlib.Path(folder) / "nginx.conf"
    path.write_text(text)
    with Server(["nginx", "-p", folder, "-c", path, "-e", "stderr"], port) as server:
        yield server


@contextlib.contextmanager
def fastapi(tools, folder):
    with redis_server(free_port(), folder) as redis:
        port = free_port()
        command = [tools.venv / "bin/uvicorn", "--app-dir", PEERS / "fastapi", "app:app", "--port", port,
                   "--workers", 1, "--no-access-log", "--log-level", "warning"]
        with Server(command, port, environment={"REDIS_PORT": str(redis.port)}) as server:
            yield server


SERVERS = {"brim": brim, "nginx": nginx, "fastapi": fastapi}


def counts(out):
    """Requests made, and how many of them were refused, as our scripts of wrk tell it."""
    failed = re.search(r"Socket errors: (.*)", out)
    if failed:
        raise SystemExit(f"wrk: {failed.group(0)}")
    requests, refused = (int(re.search(rf"^{name}: (\d+)", out, re.M).group(1)) for name in ("requests", "refused"))
    return requests, refused


def expect(kind, refused, name):
    """Stops unless this part of the requests was refused as the kind has it."""
    if (refused > 0.01) if kind == "allow" else (refused < 0.99):
        raise SystemExit(f"{name}, {kind}: {refused:.0%} of the requests were refused")


def wrk(port, kind, seconds):
    out = output_of(["wrk", "-t1", "-c64", f"-d{seconds}s", "-s", PEERS / "wrk.lua", f"http://127.0.0.1:{port}", "--", kind])
    return counts(out)


def measure_one(tools, name, kind, seconds, samples):
    with tempfile.TemporaryDirectory() as folder, SERVERS[name](tools, folder) as server:
        wrk(server.port, "reject", 1)  # warm: connections, code, the one client's limit
        before = server.cpu_seconds()
        requests, refused = wrk(server.port, kind, seconds)
        cpu = server.cpu_seconds() - before
    expect(kind, refused / requests, name)
    samples.add(f"{kind}_{name}_cpu_us", cpu * 1e6 / requests)
    samples.add(f"{kind}_{name}_requests_per_s", requests / seconds)


def measure(tools, rounds, seconds):
    samples = Samples()
    for _ in range(rounds):
        for kind in KINDS:
            for name in SERVERS:
                measure_one(tools, name, kind, seconds, samples)
    for kind in KINDS:
        samples.ratio(f"{kind}_cpu_to_nginx", f"{kind}_brim_cpu_us", f"{kind}_nginx_cpu_us")
        samples.ratio(f"{kind}_cpu_under_fastapi", f"{kind}_fastapi_cpu_us", f"{kind}_brim_cpu_us")
    return samples
