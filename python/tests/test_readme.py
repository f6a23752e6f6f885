"""The Python blocks of the pages: those of the README are run, those of docs/ at least compile and import what is there."""

import ast
import contextlib
import importlib
import io
import pathlib
import re

import pytest
from starlette.testclient import TestClient

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:```text\n(?P<said>.*?)^```$)?", re.MULTILINE | re.DOTALL)
PAGES = ["README.md", "docs/python.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/moving-from-*.md"))]


def blocks(page):
    found = list(BLOCK.finditer((ROOT / page).read_text()))
    assert found, page
    return found


def test_the_first_block_prints_what_the_page_shows():
    first = blocks("README.md")[0]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(first["code"], {})
    assert said.getvalue().replace("wait 59 s", "wait 60 s") == first["said"]


def test_the_app_limits_as_the_page_says():
    names = {"__name__": "readme"}
    exec(blocks("README.md")[1]["code"], names)
    with TestClient(names["app"]) as client:
        answers = [client.get("/api/search?q=test") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[0].json() == {"query": "test", "results": []} and "Retry-After" in answers[5].headers
    assert [answer.headers["X-RateLimit-Remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_compile_and_import_what_is_there(page):
    for block in blocks(page):
        compile(block["code"], page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for module, names in re.findall(r"^from (brim\S*) import (.*)$", block["code"], re.MULTILINE):
            for name in names.split(","):
                assert hasattr(importlib.import_module(module), name.strip()), (module, name)
        for module in re.findall(r"^import (brim\S*)", block["code"], re.MULTILINE):
            importlib.import_module(module)
