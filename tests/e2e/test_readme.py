"""The README as a reader would follow it.

A block ```sh run is run, and must print what the ```text block after it shows, where … stands for anything. `./run` is
the built program; the demo, `brim serve` and a Redis answer on the ports that the README names. The ```cpp and ```cmake blocks are
a program of an installed brim.
"""

import os
import pathlib
import re
import subprocess

import harness

ROOT = pathlib.Path(__file__).parents[2]
BUILD = harness.BINARY.parents[2]
BLOCK = re.compile(r"^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(m["language"], m["text"]) for m in BLOCK.finditer((ROOT / "README.md").read_text())]


def block(language):
    [text] = [text for name, text in BLOCKS if name == language]
    return text


def runs():
    """What to run, and what it must print, in the order of the page."""
    for (language, text), following in zip(BLOCKS, BLOCKS[1:] + [("", "")]):
        if language == "sh run":
            assert following[0] == "text", f"a block that is run is followed by what it prints: {text}"
            yield text, following[1]


def shown(said, expected):
    pattern = re.escape(expected).replace(re.escape("…"), ".*")
    return re.fullmatch(pattern, said.replace("\r", ""))


def test_the_shell_blocks_print_what_the_page_shows(tmp_path, demo, serve, redis_server):
    for name, package in (("curl", "curl"), ("redis-cli", "redis-tools")):
        harness.program(name, package)
    (tmp_path / "run").write_text(f'#!/bin/sh\nexec "{harness.BINARY}" "$@"\n')
    (tmp_path / "run").chmod(0o755)
    ours = {8080: demo().port, 8082: serve().port, 6379: redis_server.port}
    assert len(list(runs())) >= 4
    for text, expected in runs():
        script = text
        for named, port in ours.items():
            script = script.replace(f"127.0.0.1:{named}", f"127.0.0.1:{port}")
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=harness.environment(), text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert shown(done.stdout, expected), f"{script}\n{done.stdout}{done.stderr}"


def test_the_program_builds_on_an_installed_brim_and_prints_what_the_page_shows(tmp_path):
    def step(*command):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    (tmp_path / "main.cc").write_text(block("cpp"))
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES CXX)\nadd_executable(app main.cc)\n" + block("cmake"))
    sanitizers = os.environ.get("BRIM_SANITIZE", "")  # what is built with one needs it at the user's too
    flags = f"-DCMAKE_CXX_FLAGS=-fsanitize={sanitizers}" if sanitizers else "-DCMAKE_CXX_FLAGS="
    step("cmake", "--install", BUILD, "--prefix", tmp_path / "prefix")
    step("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", flags,
         f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}")
    step("cmake", "--build", tmp_path / "build")
    said = subprocess.run([tmp_path / "build/app"], capture_output=True, text=True, timeout=20, env=harness.environment())
    # The machine may be slow: a second may have passed.
    expected = next(text for (name, _), (_, text) in zip(BLOCKS, BLOCKS[1:]) if name == "cpp")
    assert said.stdout.replace("wait 59 s", "wait 60 s") == expected
    assert said.returncode == 0


def test_the_page_names_only_files_that_exist():
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text())
    assert links and all((ROOT / link).exists() for link in links), links
