"""docs/openapi.yaml against the server: what schemathesis makes of the schema, good and bad, is answered as it says."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
# Left out: positive_data_acceptance, as a schema cannot tell which texts are limits, and unsupported_method, as gateways
# ask /v1/auth with whatever method their client has.
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
          "response_headers_conformance", "negative_data_rejection"]
REFUSALS = "[checks]\nnegative_data_rejection.expected-statuses = [400, 405, 413, 415]\n"


@pytest.mark.parametrize("config", ["", "deny: problem\nheaders: [ietf]\n"], ids=["message", "problem"])
def test_the_server_answers_as_the_schema_says(serve, tmp_path, config):
    (tmp_path / "schemathesis.toml").write_text(REFUSALS)
    done = subprocess.run(
        [pathlib.Path(sys.executable).parent / "schemathesis", "--config-file", tmp_path / "schemathesis.toml",
         "run", ROOT / "docs/openapi.yaml", "--url", serve(config).url, "--checks", ",".join(CHECKS),
         "--max-examples", "100", "--phases", "examples,coverage,fuzzing", "--generation-database", "none", "--no-color"],
        cwd=tmp_path, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, "\n".join(line[:500] for line in (done.stdout + done.stderr).splitlines())
    assert "Tested: 11" in done.stdout, done.stdout
