"""The embedded store: one check and many, beside Rust's governor, and the bytes it takes."""

import json

from processes import CLIENT_CPU, output_of
from samples import Samples

ALGORITHMS = ("sliding_window", "fixed_window", "token_bucket", "sliding_window_counter")
LOG_SIZES = (100, 5_000, 100_000)


def benchmark(tools, name, seconds, cpu=CLIENT_CPU):
    """The one run of Google Benchmark whose name is exactly this."""
    out = output_of([tools.build / "bench/memory_bench", f"--benchmark_filter=^{name}$", "--benchmark_format=json",
                     f"--benchmark_min_time={seconds}"], cpu)
    return json.loads(out)["benchmarks"][0]


def cpu_ns(tools, name, seconds):
    run = benchmark(tools, name, seconds)
    per_iteration = run["cpu_time"]
    return per_iteration / 16 if name.endswith("Batch") else per_iteration


def two_threads(tools, seconds, samples):
    """Both free to run on cpu 0 and 1. By wall time, as users see it; by CPU time, which other programs on the
    machine do not spoil: there, 2 is perfect, and waiting for each other costs."""
    one = benchmark(tools, "OneByOne/real_time/threads:1", seconds, "0,1")
    two = benchmark(tools, "OneByOne/real_time/threads:2", seconds, "0,1")
    samples.add("two_threads_ratio", two["items_per_second"] / one["items_per_second"])
    samples.add("two_threads_cpu_ratio", 2 * one["cpu_time"] / two["cpu_time"])


def sizes(tools):
    figures = {}
    for algorithm in ALGORITHMS:
        run = benchmark(tools, f"BytesPerKey/{algorithm}/iterations:1", 0.01)
        figures[f"bytes_per_key_{algorithm}"] = run["bytes"]
        figures[f"resident_bytes_per_key_{algorithm}"] = run["resident_bytes"]
    for size in LOG_SIZES:
        run = benchmark(tools, f"BytesPerEntry/{size}/iterations:1", 0.01)
        figures["log_entry_bytes" if size == 5_000 else f"log_entry_bytes_of_{size}"] = run["bytes"]
    return figures


def measure(tools, rounds, seconds):
    samples = Samples()
    for _ in range(rounds):
        samples.add("clock_ns", cpu_ns(tools, "ClockRead", seconds))
        samples.add("hot_key_ns", cpu_ns(tools, "HotKey", seconds))
        samples.add("one_by_one_ns", cpu_ns(tools, "OneByOne/real_time/threads:1", seconds))
        samples.add("governor_ns", json.loads(output_of([tools.governor, seconds]))["cpu_ns"])
        samples.add("batch_ns", cpu_ns(tools, "Batch", seconds))
        samples.add("store_batch_ns", cpu_ns(tools, "StoreBatch", seconds))
        two_threads(tools, seconds, samples)
    for name in ("one_by_one", "batch", "store_batch"):
        samples.ratio(f"{name}_ratio", "governor_ns", f"{name}_ns")
    samples.figures_of_one_run(sizes(tools))
    return samples
