"""Programs that import brim, each in a process of its own."""

import os
import pathlib
import subprocess
import sys

import harness
import httpx

# A sanitizer's library, which a sanitized brim needs and which servers and tools had better not get.
PRELOAD = os.environ.pop("LD_PRELOAD", "")


def environment(**changes):
    return harness.environment(**({"LD_PRELOAD": PRELOAD} if PRELOAD else {}) | changes)


def start(text):
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment())


def run(text):
    """Runs it to its end, which must be a good and silent one; what it printed."""
    program = start(text)
    said, errors = program.communicate(timeout=harness.DEADLINE)
    assert (program.returncode, errors) == (0, ""), (program.returncode, errors)
    return said



class Served:
    """An app behind a real uvicorn."""
    def __init__(self, app, folder, log, **changes):
        self.port = harness.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = log
        self._process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "--app-dir", folder, app, "--port", str(self.port), "--no-access-log"],
            stdout=log.open("w"), stderr=subprocess.STDOUT, env=environment(**changes))
        harness.eventually(self._answers, f"uvicorn answers: {log.read_text()}")

    def _answers(self):
        assert self._process.poll() is None, self._log.read_text()
        try:
            return httpx.get(f"{self.url}/openapi.json").status_code == 200
        except httpx.TransportError:
            return False

    def log(self):
        return self._log.read_text()

    def stop(self):
        self._process.terminate()
        assert self._process.wait(harness.DEADLINE) in (0, -15), self._log.read_text()


def serve(request, app, folder, tmp_path_factory, **changes):
    one = Served(app, pathlib.Path(folder), tmp_path_factory.mktemp("served") / "log", **changes)
    request.addfinalizer(one.stop)
    return one
