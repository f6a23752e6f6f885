"""Two sliding windows a check on Redis: brim, and the plain recipe pipelined and not. And one hot key, brim alone:
refused, and allowed with and without merging."""

import contextlib
import json
import tempfile

from processes import free_port, output_of, redis_server
from samples import Samples

MODES = ("brim", "pipelined", "unpipelined")
HOT_KINDS = ("hot_log", "hot_bucket")
WARM_UP = 3  # rounds: then most subjects have been seen


def load(tools, server, mode, seconds):
    """What redis_load prints, and the server's CPU seconds."""
    before = server.cpu_seconds()
    run = json.loads(output_of([tools.build / "bench/redis_load", mode, server.port, seconds]))
    return run | {"redis_cpu_seconds": server.cpu_seconds() - before}


def measure_hot_key(tools, samples, rounds, seconds):
    with tempfile.TemporaryDirectory() as folder, redis_server(free_port(), folder) as server:
        for _ in range(rounds):
            run = load(tools, server, "hot_refused", seconds)
            samples.add("hot_refused_calls_beyond_units_per_s", (run["calls"] - run["allowed"]) / run["seconds"])
            samples.add("hot_refused_client_cpu_us", run["cpu_seconds"] * 1e6 / run["checks"])
            for mode in [kind + way for kind in HOT_KINDS for way in ("", "_singly")]:
                run = load(tools, server, mode, seconds)
                samples.add(f"{mode}_checks_per_s", run["checks"] / run["seconds"])
                samples.add(f"{mode}_redis_cpu_us", run["redis_cpu_seconds"] * 1e6 / run["checks"])
                samples.add(f"{mode}_client_cpu_us", run["cpu_seconds"] * 1e6 / run["checks"])
    for kind in HOT_KINDS:
        samples.ratio(f"{kind}_ratio", f"{kind}_checks_per_s", f"{kind}_singly_checks_per_s")


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
                run = load(tools, server, mode, seconds)
                samples.add(f"{mode}_checks_per_s", run["checks"] / run["seconds"])
                samples.add(f"{mode}_redis_cpu_us", run["redis_cpu_seconds"] * 1e6 / run["checks"])
                samples.add(f"{mode}_client_cpu_us", run["cpu_seconds"] * 1e6 / run["checks"])
    measure_hot_key(tools, samples, rounds, seconds)
    for peer in MODES[1:]:
        samples.ratio(f"rate_ratio_{peer}", "brim_checks_per_s", f"{peer}_checks_per_s")
        samples.ratio(f"redis_cpu_ratio_{peer}", f"{peer}_redis_cpu_us", "brim_redis_cpu_us")
    return samples
