"""The wheel: all that it needs is in it, and the command too."""

import importlib.metadata
import pathlib
import subprocess
import sys

import harness

import brim

SITE = pathlib.Path(brim.__file__).parents[1]


def test_it_needs_no_other_package():
    assert all("extra ==" in one for one in importlib.metadata.requires("brim"))
    program = f"import sys; sys.path.append({str(SITE)!r}); import brim.aio, brim.testing; print(brim.Limiter().closed)"
    # -S: nothing that is installed is seen.
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def test_its_libraries_are_in_it_or_on_every_linux():
    everywhere = ("linux-vdso", "libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "/lib64/ld-linux")
    for file in [*SITE.glob("brim/_brim*.so"), *SITE.glob("brim.scripts/brim")]:
        said = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
        foreign = [line for line in said.splitlines() if "brim.libs" not in line and not line.strip().startswith(everywhere)]
        assert "brim.libs" in said and not foreign, said


def test_it_brings_the_command():
    command = pathlib.Path(sys.executable).with_name("brim")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=harness.DEADLINE)
    assert (done.returncode, done.stdout.split()[-1]) == (0, importlib.metadata.version("brim"))
    check = subprocess.run([command, "check", "me", "--limit", "1 per minute"], capture_output=True, timeout=harness.DEADLINE)
    assert check.returncode == 0


def test_it_is_typed():
    assert (SITE / "brim/py.typed").exists() and (SITE / "brim/_brim.pyi").exists()
