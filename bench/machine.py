"""What the figures were measured on."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).parents[1]


def first_line(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else "unknown"


def cpu_model():
    found = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found.group(1) if found else platform.machine()


def memory_gib():
    kib = int(re.search(r"^MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(), re.M).group(1))
    return round(kib / 2**20)


def describe():
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "cpu": cpu_model(), "cpus": os.cpu_count(), "memory_gib": memory_gib(),
        "kernel": platform.release(), "load_before": os.getloadavg()[0],
    }


def versions(tools):
    pinned = (ROOT / "bench/peers/fastapi/requirements.txt").read_text().split()
    governor = re.search(r'governor = .*?"=([\d.]+)"', (ROOT / "bench/peers/governor/Cargo.toml").read_text())
    return {
        "brim": first_line("git", "-C", ROOT, "describe", "--always", "--dirty"),
        "g++": first_line("g++", "-dumpfullversion"),
        "governor": governor.group(1), "rustc": first_line("rustc", "--version"),
        "redis-server": re.search(r"v=(\S+)", first_line("redis-server", "--version")).group(1),
        "nginx": first_line("nginx", "-v").rpartition("/")[2],
        "python": first_line(tools.venv / "bin/python", "--version"), "pip": ", ".join(pinned),
    }
