"""Keys stay in the environment, whatever a server, a command or a fault does with them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from hbench.testing.raw_server import RawRequest, RawServer
from tests.canary import KEYS, MARK, leaks
from tests.model.test_server_faults import body_of, completion, reply

PROVIDERS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}


def told(request: RawRequest) -> str:
    """Quote a request's headers, as gateways do that help with debugging."""
    return "; ".join(f"{name}: {value}" for name, value in request.headers.items())


QUOTING: dict[str, Callable[[RawRequest], Iterable[bytes]]] = {
    "in a refusal": lambda r: [reply(b'{"error": {"message": "no: %s"}}' % told(r).encode(), status="401 No")],
    "in another refusal": lambda r: [reply(b'{"error": {"message": "no: %s"}}' % told(r).encode(), status="400 No")],
    "in a page": lambda r: [reply(b"<html>%s</html>" % told(r).encode(), "Content-Type: text/html")],
    "in broken JSON": lambda r: [reply(b'{"a": "%s' % told(r).encode())],
    "in an answer": lambda r: [reply(body_of(r, completion(f"[3] {told(r)}")))],
    "in an answer that cannot be read": lambda r: [reply(body_of(r, completion(told(r))))],
    "in a header": lambda r: [reply(body_of(r), f"X-Echo: {told(r)}", "Content-Length: 9")],
    "in a redirect": lambda r: [reply(b"", f"Location: http://x.invalid/?{told(r)}", status="302 Found")],
}

QUICK = {("openai", "in a refusal"), ("openai", "in an answer")}


@pytest.fixture
def hbench(tmp_path: Path, suite: Path) -> Callable[..., str]:
    """Run a command in a process of its own, whose tracebacks are shown, and return all that it printed."""

    def call(*words: str, **more: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", "import sys; from hbench.cli.main import main; sys.exit(main())", *words],
            cwd=tmp_path,
            env={**os.environ, "HBENCH_TRACEBACK": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[2]), **more},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    return call


@pytest.mark.parametrize(
    ("provider", "quoting"),
    [
        pytest.param(provider, quoting, marks=[pytest.mark.slow] * ((provider, quoting) not in QUICK))
        for provider in PROVIDERS
        for quoting in QUOTING
    ],
)
def test_a_server_that_quotes_the_key(hbench: Callable[..., str], tmp_path: Path, provider: str, quoting: str) -> None:
    with RawServer(lambda _, request: QUOTING[quoting](request)) as server:
        shown = hbench("eval", "--tasks", "evil/spend", "--data", "data", "--include-path", "evil",
                       "--out", "run", "--limit", "3", "--model",
                       f"{provider}:m,base_url={server.url},attempts=1,timeout=5")  # fmt: skip
        assert any(KEYS[PROVIDERS[provider]] in value for value in server.requests[0].headers.values())
    shown += hbench("report", "run", "--stored") + hbench("show", "run", "--record", "1")
    shown += hbench("report", "run", "--format", "json", "-o", "report.json")
    assert "Run: run" in shown or "refuses" in shown
    assert MARK not in shown
    assert leaks(tmp_path) == []


def test_keys_in_words_and_addresses_are_struck_out(hbench: Callable[..., str], tmp_path: Path) -> None:
    """They do not belong there; the manifest keeps the command all the same."""
    password = f"{MARK}in-the-address"
    with RawServer(lambda _, request: [reply(body_of(request))]) as server:
        address = server.url.replace("http://", f"http://user:{password}@")
        shown = hbench("eval", "--tasks", "evil/spend", "--data", "data", "--include-path", "evil",
                       "--out", "run", "--limit", "2", "--model", f"openai:m,base_url={address}",
                       OPENAI_API_KEY="")  # fmt: skip
        assert "Authorization".lower() in server.requests[0].headers
    assert "Run: run" in shown, shown
    assert MARK not in shown
    assert leaks(tmp_path) == []


def test_a_fault_of_the_program_shows_no_key(hbench: Callable[..., str], tmp_path: Path) -> None:
    """A traceback shows lines of code, not what variables hold."""
    (tmp_path / "sitecustomize.py").write_text(
        "import hbench.model.http_call as h\n"
        "def fail(self, *words):\n    secrets = self._secrets\n    raise ZeroDivisionError('a fault of the program')\n"
        "h.Caller._read = fail\n"
    )
    with RawServer(lambda _, request: [reply(body_of(request))]) as server:
        shown = hbench("eval", "--tasks", "evil/spend", "--data", "data", "--include-path", "evil",
                       "--out", "run", "--model", f"openai:m,base_url={server.url}",
                       PYTHONPATH=f"{tmp_path}{os.pathsep}{Path(__file__).resolve().parents[2]}")  # fmt: skip
    assert "a fault of the program" in shown
    assert MARK not in shown
    assert leaks(tmp_path) == []
