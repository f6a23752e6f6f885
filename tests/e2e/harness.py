"""Real servers and real clients for the end-to-end tests: each is started here and ended here, by its pid."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import redis

BINARY = pathlib.Path(os.environ.get("BRIM_BINARY", pathlib.Path(__file__).parents[2] / "build/src/cli/brim"))
SANITIZED = bool(os.environ.get("BRIM_SANITIZE"))
DEADLINE = 30 if SANITIZED else 10  # seconds that anything may take that needs no waiting


def eventually(condition, what, deadline=DEADLINE):
    """The first true value of condition(); fails with `what` after the deadline."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {deadline} s: {what}"
        time.sleep(0.005)


def program(name, package):
    path = shutil.which(name)
    assert path, f"{name} is missing: install the Debian package {package}"
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(**changes):
    """The environment without what would steer brim, and with these changes."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("BRIM_") and k != "RATE_LIMIT_DISABLED"}
    return kept | changes


class RedisServer:
    """A redis-server or valkey-server on a free port of the loopback, and on a unix socket."""

    def __init__(self, binary, folder):
        self.socket = str(folder / "s.sock")
        self._log = folder / "server.log"
        for _ in range(5):  # another process may take the port between our look and the server's bind
            self.port = free_port()
            self._process = subprocess.Popen(
                [binary, "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.socket,
                 "--save", "", "--appendonly", "no", "--dir", str(folder)],
                stdout=self._log.open("w"), stderr=subprocess.STDOUT)
            self.client = redis.Redis(port=self.port, decode_responses=False)
            if eventually(self._ready, f"{binary} answers: {self._log.read_text()}") == "up":
                break
        else:
            raise AssertionError(f"{binary} does not start: {self._log.read_text()}")
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.unix_url = f"unix://{self.socket}?db=0"

    def _ready(self):
        if self._process.poll() is not None:
            return "ended"
        try:
            return "up" if self.client.info("server")["process_id"] == self._process.pid else None
        except redis.exceptions.ConnectionError:
            return None

    def fresh(self):
        """As if just started: no key, no figures, no script."""
        self.client.flushall()
        self.client.script_flush()
        self.client.config_resetstat()

    def calls(self, command):
        return self.client.info("commandstats").get(f"cmdstat_{command}", {}).get("calls", 0)

    def stop(self):
        self.client.close()
        self._process.terminate()
        self._process.wait(DEADLINE)


class Monitor:
    """What MONITOR shows of a server while the block runs: `commands` of clients, `lua` those of scripts."""

    LINE = re.compile(r"^\+?[\d.]+ \[\d+ (\S+)\] (.*)$")

    def __init__(self, server):
        self._server = server
        self.commands, self.lua = [], []

    def __enter__(self):
        self._socket = socket.create_connection(("127.0.0.1", self._server.port), DEADLINE)
        self._file = self._socket.makefile("r", encoding="latin-1", newline="\r\n")
        self._socket.sendall(b"MONITOR\r\n")
        assert self._file.readline() == "+OK\r\n"
        return self

    def __exit__(self, *_):
        # A command of our own marks the end: what came before it has been shown before it.
        self._server.client.echo("end of monitor")
        for line in self._file:
            source, command = self.LINE.match(line.rstrip()).groups()
            if "end of monitor" in command:
                break
            (self.lua if source == "lua" else self.commands).append(command)
        self._file.close()
        self._socket.close()

    def named(self, name):
        """The clients' commands of this name."""
        return [c for c in self.commands if c.lower().startswith(f'"{name.lower()}"')]


class Brim:
    """A running server of brim; `port` and `url` are those of its first listener."""

    ADDRESS = re.compile(r"(\w+)_listening address=127\.0\.0\.1:(\d+)")

    def __init__(self, folder, command, args=(), env=None):
        assert BINARY.exists(), f"{BINARY} is missing: build the target brim"
        self._log = folder / f"{command}-{time.monotonic_ns()}.log"
        self._process = subprocess.Popen(
            [BINARY, command, *args], stdout=self._log.open("w"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            env=environment(**(env or {})))
        eventually(self._bound, "it tells where it listens")
        self.port = next(iter(self.ports.values()))
        self.url = f"http://127.0.0.1:{self.port}"
        eventually(self.answers, "it answers")

    def _bound(self):
        assert self._process.poll() is None, f"it ended: {self.log()}"
        self.ports = {name: int(port) for name, port in self.ADDRESS.findall(self.log())}
        return set(self.LISTENERS) <= set(self.ports)

    def answers(self):
        """Whether it serves; charges nothing."""
        try:
            return self.raw(b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")[:12] in (
                b"HTTP/1.1 404", b"HTTP/1.1 401")
        except ConnectionError:
            return False

    def log(self):
        return self._log.read_text(errors="replace")

    def connect(self, timeout=DEADLINE, port=None):
        return socket.create_connection(("127.0.0.1", port or self.port), timeout)

    def raw(self, data, port=None):
        """Everything that it answers to these bytes until it ends the connection."""
        with self.connect(port=port) as s:
            try:
                s.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it may have refused before it read all; its answer is there all the same
            return read_all(s)

    def signal(self, number):
        self._process.send_signal(number)

    def wait(self):
        """Its exit code, once it has ended."""
        return self._process.wait(DEADLINE)

    def stop(self):
        assert self._process.poll() is None, f"it died: {self.log()}"
        self.signal(signal.SIGTERM)
        try:
            status = self._process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"it did not drain: {self.log()}") from None
        assert status == 0, f"it ended with {status}: {self.log()}"
        assert "Sanitizer" not in self.log() and "runtime error" not in self.log(), self.log()


class Demo(Brim):
    """A running `brim demo`."""

    LISTENERS = ("gateway",)

    def __init__(self, folder, args=(), store="memory://", env=None, store_timeout_ms=5000):
        # A busy machine is no lost store: the tests of a lost one say so themselves.
        super().__init__(folder, "demo", ["--listen", "127.0.0.1:0", "--store", store,
                                          "--store-timeout-ms", str(store_timeout_ms), *args], env)


class Serve(Brim):
    """A running `brim serve` with this configuration (YAML) on free ports: `port` is the decision API's, `ports` has
    "api", "admin" and, if there are routes, "gateway"."""

    def __init__(self, folder, config="", args=(), store=None, env=None):
        self.config = path = folder / f"brim-{time.monotonic_ns()}.yaml"
        path.write_text(config)
        self.LISTENERS = ("api", "gateway", "admin") if "gateway:" in config else ("api", "admin")
        gateway = ["--gateway-listen", "127.0.0.1:0"] if "gateway" in self.LISTENERS else []
        super().__init__(folder, "serve", [
            *([] if "--config" in args else ["--config", str(path)]), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", *gateway,
            *(["--store", store] if store else []), *args], env)

    def url_of(self, listener):
        return f"http://127.0.0.1:{self.ports[listener]}"


def read_all(s):
    received = b""
    try:
        while part := s.recv(65536):
            received += part
    except ConnectionResetError:
        pass
    return received


def together(count, work):
    """Runs work(i) in `count` threads that are let go at one moment; their results, in order."""
    barrier = threading.Barrier(count)
    results = [None] * count

    def run(i):
        results[i] = work(i, barrier.wait)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results


def brim(*args, env=None, timeout=DEADLINE):
    """Runs the program to its end: returncode, stdout, stderr (bytes in arguments are passed as they are)."""
    assert BINARY.exists(), f"{BINARY} is missing: build the target brim"
    done = subprocess.run([str(BINARY), *args], capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL,
                          env=environment(**(env or {})))
    done.stdout, done.stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert done.returncode >= 0 and "Sanitizer" not in done.stderr, done
    return done
