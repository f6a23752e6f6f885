"""Processes that are measured: pinned to a cpu, their CPU time read from the kernel, ended by their pid."""

import contextlib
import os
import pathlib
import socket
import subprocess
import time

SERVER_CPU, CLIENT_CPU = "0", "1"
DEADLINE = 20  # seconds until a server must be up, or down


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def pinned(cpu, command):
    """The command on one cpu, where the machine has more than one."""
    return ["taskset", "-c", cpu, *command] if (os.cpu_count() or 1) > 1 else list(command)


def output_of(command, cpu=CLIENT_CPU, environment=None):
    """What a client prints; it must succeed."""
    done = subprocess.run(pinned(cpu, map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment, check=False)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def cpu_seconds(pid):
    """User and system time of all threads of the process, from the scheduler."""
    total = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the thread has ended
            total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def children_of(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Server:
    """A server on the server's cpu, from the start of the block until its end; up when its port answers."""

    def __init__(self, command, port, environment=None, log=subprocess.DEVNULL):
        self.command = pinned(SERVER_CPU, map(str, command))
        self.port, self.environment, self.log = port, environment, log

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=subprocess.STDOUT, env=self.environment)
        end = time.monotonic() + DEADLINE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise SystemExit(f"does not start: {' '.join(self.command)}")
            time.sleep(0.02)
        return self

    def _answers(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def cpu_seconds(self):
        pid = self.process.pid
        return sum(cpu_seconds(p) for p in [pid, *children_of(pid)])

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(DEADLINE)


def redis_server(port, folder):
    return Server(["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                   "--dir", folder], port)
