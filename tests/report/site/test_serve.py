from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from hbench.core import RunError
from hbench.report.site.build import MARK
from hbench.report.site.policy import POLICY
from hbench.report.site.serve import HOST, application, listen

PAGE = "<!doctype html><title>page</title>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "tasks").mkdir(parents=True)
    (site / MARK).write_text('{"format": "hbench site", "version": 1}')
    (site / "index.html").write_text(PAGE)
    (site / "tasks" / "a.html").write_text(PAGE)
    (tmp_path / "secret.txt").write_text("secret")
    (site / "link.txt").symlink_to(tmp_path / "secret.txt")
    return site


@pytest.fixture
def port(folder: Path) -> Iterator[int]:
    import asyncio

    sock = listen(0)
    found = sock.getsockname()[1]
    started, loop = threading.Event(), asyncio.new_event_loop()
    runner = web.AppRunner(application(folder, found))

    async def start() -> None:
        await runner.setup()
        await web.SockSite(runner, sock).start()
        started.set()

    def run() -> None:
        loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(10)
    yield found
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


def ask(port: int, path: str, *, host: str | None = None, method: str = "GET") -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection(HOST, port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", f"{HOST}:{port}" if host is None else host)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, body


def test_pages_are_served_with_the_policy(port: int) -> None:
    for path in ("/", "/index.html", "/tasks/a.html"):
        status, headers, body = ask(port, path)
        assert (status, body) == (200, PAGE)
        assert headers["content-security-policy"] == f"{POLICY}; frame-ancestors 'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-type"].startswith("text/html")
    assert ask(port, "/", host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example", "", "[::1]"]
)
def test_other_hosts_are_refused(port: int, host: str) -> None:
    status, headers, body = ask(port, "/", host=host)
    assert (status, PAGE in body) == (421, False)
    assert "content-security-policy" in headers


def test_a_host_that_is_named_twice_is_refused(port: int) -> None:
    connection = http.client.HTTPConnection(HOST, port, timeout=10)
    connection.putrequest("GET", "/", skip_host=True)
    connection.putheader("Host", f"{HOST}:{port}")
    connection.putheader("Host", "evil.example")
    connection.endheaders()
    assert connection.getresponse().status in (400, 421)
    connection.close()


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/tasks/../../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt",
     "/tasks/..%5c..%5csecret.txt", "//secret.txt", "/link.txt", "/%00", "/tasks/", "/tasks", "/nothing.html"],
)  # fmt: skip
def test_nothing_outside_the_folder_and_no_list_of_a_folder_is_served(port: int, path: str) -> None:
    status, headers, body = ask(port, path)
    assert status in (400, 403, 404), body
    assert "secret" not in body
    assert "a.html" not in body
    assert "content-security-policy" in headers or status == 400


def test_nothing_can_be_written(port: int) -> None:
    assert ask(port, "/index.html", method="POST")[0] == 405
    assert ask(port, "/index.html", method="PUT")[0] == 405


def test_only_the_loopback_address_is_listened_on() -> None:
    sock = listen(0)
    assert sock.getsockname()[0] == "127.0.0.1"
    sock.listen()
    with pytest.raises(RunError, match="cannot be used"):
        listen(sock.getsockname()[1])
    sock.close()


def test_only_a_site_is_served(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no site of hbench"):
        application(tmp_path, 80)
