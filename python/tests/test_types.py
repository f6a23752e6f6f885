"""What type checkers see: the package is clean itself, its stubs tell what is there, and users' mistakes are found."""

import pathlib
import subprocess
import sys

import brim

PACKAGE = pathlib.Path(brim.__file__).parent
USER = '''
import asyncio
import brim
import brim.aio
from brim.testing import ManualClock

limiter = brim.Limiter("memory://", clock=ManualClock(), on_failure="closed")
limits = brim.Limits(["5 per minute", brim.Limit(1, 0.5, algorithm="token_bucket")])
decision: brim.Decision = limiter.check("u", limits)
wait: int | None = decision.retry_after

async def ask() -> bool:
    async with brim.aio.Limiter("redis://127.0.0.1/0", nodes=2) as one:
        allowed, remaining, retry_after = await brim.aio.RateLimiter().check("u", 5, 60)
        return (await one.check("u", "5/m")).allowed and allowed

asyncio.run(ask())
'''


def run(*command, cwd):
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, timeout=300, cwd=cwd)
    return done.returncode, done.stdout + done.stderr


def test_the_package_is_clean_under_mypy_strict(tmp_path):
    status, said = run("mypy", "--strict", "--cache-dir", tmp_path, PACKAGE, cwd=tmp_path)
    assert status == 0, said


def test_the_stubs_tell_what_is_there(tmp_path):
    allowed = pathlib.Path(__file__).with_name("stubtest_allowlist.txt")
    status, said = run("mypy.stubtest", "brim", "--allowlist", allowed, cwd=tmp_path)
    assert status == 0, said


def test_a_users_program_is_checked(tmp_path):
    (tmp_path / "good.py").write_text(USER)
    status, said = run("mypy", "--strict", "--cache-dir", tmp_path, "good.py", cwd=tmp_path)
    assert status == 0, said
    (tmp_path / "bad.py").write_text(USER.replace('"closed"', '"panic"').replace("int | None", "str"))
    status, said = run("mypy", "--strict", "--cache-dir", tmp_path, "bad.py", cwd=tmp_path)
    assert status == 1 and "Found 2 errors" in said, said
