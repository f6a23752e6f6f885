"""Two sliding windows a check on Redis: brim, and the plain recipe pipelined and not."""

import contextlib
import json
import tempfile

from processes import free_port, output_of, redis_server
from samples import Samples

MODES = ("brim", "pipelined", "unpipelined")
WARM_UP = 3  # rounds: then most subjects have been seen


def load(tools, server, mode, seconds):
    """Checks, seconds they took, and the server's CPU seconds."""
    before = server.cpu_seconds()
    run = json.loads(output_of([tools.build / "bench/redis_load", mode, server.port, seconds]))
    return run["checks"], run["seconds"], server.cpu_seconds() - before


def measure(tools, rounds, seconds):
    samples = Samples()
    with contextlib.ExitStack() as stack:
        servers = {}  # one each: the keys of one kind do not grow by the speed of another
        for mode in MODES:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            servers[mode] = stack.enter_context(redis_server(free_port(), folder))
            load(tools, servers[mode], mode, WARM_UP * seconds)
        for _ in range(rounds):
            for mode, server in servers.items():
                checks, took, cpu = load(tools, server, mode, seconds)
                samples.add(f"{mode}_checks_per_s", checks / took)
                samples.add(f"{mode}_redis_cpu_us", cpu * 1e6 / checks)
    for peer in MODES[1:]:
        samples.ratio(f"rate_ratio_{peer}", "brim_checks_per_s", f"{peer}_checks_per_s")
        samples.ratio(f"redis_cpu_ratio_{peer}", f"{peer}_redis_cpu_us", "brim_redis_cpu_us")
    return samples
