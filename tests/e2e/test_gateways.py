"""Real gateways that ask /v1/auth about each request, set up as docs/http-api.md shows."""

import http.server
import pathlib
import re
import subprocess
import sys
import threading

import pytest

from harness import eventually, free_port, program

PAGE = (pathlib.Path(__file__).parents[2] / "docs/http-api.md").read_text()
CONFIG = "identity: {subject: [{header: X-Client-Id}]}\n"


def recipe(language, brim_port, app_port):
    [text] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return text.replace("127.0.0.1:8080", f"127.0.0.1:{brim_port}").replace("127.0.0.1:3000", f"127.0.0.1:{app_port}")


@pytest.fixture
def app():
    """The service behind the gateway: answers what it was sent."""
    class Echo(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server.server_address[1]
        server.shutdown()


def nginx(folder, port, brim_port, app_port):
    (folder / "nginx.conf").write_text(f"""
        worker_processes 1; daemon off; pid nginx.pid; error_log stderr crit; events {{}}
        http {{ access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                server {{ listen 127.0.0.1:{port}; {recipe("nginx", brim_port, app_port)} }} }}""")
    return [program("nginx", "nginx-light"), "-p", folder, "-c", folder / "nginx.conf", "-e", "stderr"]


def caddy(folder, port, brim_port, app_port):
    (folder / "Caddyfile").write_text(
        f"{{\n admin off\n auto_https off\n}}\nhttp://127.0.0.1:{port} {{\n{recipe('caddy', brim_port, app_port)}}}\n")
    return [pathlib.Path(sys.executable).parent / "caddy", "run", "--config", folder / "Caddyfile"]


@pytest.mark.parametrize("gateway", [nginx, caddy])
def test_five_pass_with_their_body_and_the_sixth_is_a_429(serve, http, app, tmp_path, gateway):
    s = serve(CONFIG)
    port = free_port()
    with (tmp_path / "gateway.log").open("w") as log:
        process = subprocess.Popen(list(map(str, gateway(tmp_path, port, s.port, app))), stdout=log, stderr=log,
                                   env={"HOME": str(tmp_path), "PATH": "/usr/bin:/usr/sbin"})
    try:
        def ask(client):
            try:
                return http.post(f"http://127.0.0.1:{port}/api/echo", content=b"kept", headers={"X-Client-Id": client})
            except OSError:
                return None
            except Exception as error:  # httpx's own: not up yet
                assert "onnect" in repr(error), error
                return None

        first = eventually(lambda: ask("warm"), (tmp_path / "gateway.log").read_text())
        assert (first.status_code, first.text) == (200, "kept")
        replies = [ask("me") for _ in range(6)]
        assert [r.status_code for r in replies] == [200] * 5 + [429]
        assert [r.text for r in replies[:5]] == ["kept"] * 5
        assert 1 <= int(replies[5].headers["Retry-After"]) <= 60
        assert replies[5].headers["RateLimit"].startswith('"minute";r=0;t=')
        assert replies[5].json()["detail"] == "Rate limit exceeded"
        assert ask("you").status_code == 200
    finally:
        process.terminate()
        process.wait(10)
