import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/e2e"))
import harness  # noqa: E402
import programs  # noqa: E402, F401  takes LD_PRELOAD away from what is started

import brim  # noqa: E402


@pytest.fixture(autouse=True)
def _nothing_steers_brim(monkeypatch):
    for name in ("BRIM_STORE", "RATE_LIMIT_DISABLED"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def _redis(tmp_path_factory):
    server = harness.RedisServer(harness.program("redis-server", "redis-server"), tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def redis_server(_redis):
    """A real redis-server without a key."""
    _redis.fresh()
    return _redis


@pytest.fixture(params=["memory", "redis"])
def store(request):
    """The test runs on both stores: their URLs."""
    return "memory://" if request.param == "memory" else request.getfixturevalue("redis_server").url


@pytest.fixture
def limiter(store):
    """A limiter that has the time a busy machine needs."""
    with brim.Limiter(store, store_timeout_ms=5000) as one:
        yield one
