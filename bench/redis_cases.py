"""Two sliding windows a check on Redis: brim, and the plain recipe pipelined and not."""

import json
import tempfile

from processes import free_port, output_of, redis_command, redis_server
from samples import Samples

MODES = ("brim", "pipelined", "unpipelined")


def measure_mode(tools, server, mode, seconds, samples):
    redis_command(server.port, "FLUSHALL")  # each begins with as many keys: none
    before = server.cpu_seconds()
    run = json.loads(output_of([tools.build / "bench/redis_load", mode, server.port, seconds]))
    cpu = server.cpu_seconds() - before
    samples.add(f"{mode}_checks_per_s", run["checks"] / run["seconds"])
    samples.add(f"{mode}_redis_cpu_us", cpu * 1e6 / run["checks"])


def measure(tools, rounds, seconds):
    samples = Samples()
    with tempfile.TemporaryDirectory() as folder, redis_server(free_port(), folder) as server:
        for _ in range(rounds):
            for mode in MODES:
                measure_mode(tools, server, mode, seconds, samples)
    for peer in MODES[1:]:
        samples.ratio(f"rate_ratio_{peer}", "brim_checks_per_s", f"{peer}_checks_per_s")
        samples.ratio(f"redis_cpu_ratio_{peer}", f"{peer}_redis_cpu_us", "brim_redis_cpu_us")
    return samples
