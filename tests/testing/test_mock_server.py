from __future__ import annotations

import http.client
import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

from hbench.testing import MockServer
from hbench.testing.faults import FAULTS


def ask(url: str, prompt: str = "hello", *, timeout: float = 5, **body: Any) -> dict[str, Any]:
    data = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}], **body}).encode()
    request = urllib.request.Request(f"{url}/chat/completions", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as response:
        decoded: dict[str, Any] = json.load(response)
        return decoded


def text(reply: dict[str, Any]) -> str:
    return str(reply["choices"][0]["message"]["content"])


def test_fixed_listed_and_computed_answers() -> None:
    with MockServer("yes") as server:
        assert text(ask(server.url)) == "yes"
    with MockServer(["a", "b"]) as server:
        assert [text(ask(server.url, str(i))) for i in range(3)] == ["a", "b", "a"]
    with MockServer(lambda question: f"{question.prompt} {question.seed}") as server:
        assert text(ask(server.url, "x", seed=4)) == "x 4"
    with MockServer(lambda question: {"content": "a", "reasoning_content": "b"}) as server:
        assert ask(server.url)["choices"][0]["message"]["reasoning_content"] == "b"


def test_n_choices_and_usage() -> None:
    with MockServer("12345678") as server:
        reply = ask(server.url, n=3)
    assert [choice["index"] for choice in reply["choices"]] == [0, 1, 2]
    assert reply["usage"]["completion_tokens"] == 9


def test_counts_what_it_saw() -> None:
    with MockServer(schedule=["500"]) as server:
        with pytest.raises(urllib.error.HTTPError):
            ask(server.url, "a")
        for prompt in ("a", "a", "b"):
            ask(server.url, prompt)
        with urllib.request.urlopen(server.url.removesuffix("/v1") + "/stats") as response:
            assert json.load(response) == server.stats.summary()
    stats = server.stats
    assert (stats.requests, stats.answered, stats.repeated, stats.unique_prompts) == (4, 3, 1, 2)
    assert dict(stats.faults) == {"500": 1}
    assert (stats.in_flight, stats.max_in_flight) == (0, 1)


def test_shares_hang_on_the_request_and_not_on_the_order() -> None:
    def fares(prompts: list[str], seed: int) -> dict[str, bool]:
        with MockServer(faults={"500": 0.3}, seed=seed) as server:
            result = {}
            for prompt in prompts:
                try:
                    ask(server.url, prompt)
                    result[prompt] = True
                except urllib.error.HTTPError:
                    result[prompt] = False
            return result

    prompts = [str(i) for i in range(100)]
    first = fares(prompts, 1)
    assert first == fares(prompts[::-1], 1)
    assert first != fares(prompts, 2)
    assert 15 <= sum(not good for good in first.values()) <= 45


STATUSES = sorted(fault for fault in FAULTS if fault.isdigit())
BROKEN = ["truncated_json", "garbage", "wrong_content_type", "half_close", "disconnect", "endless_body"]
EMPTY = ["empty_choices", "no_content", "fewer_choices", "error_body"]


def test_the_lists_of_this_file_are_complete() -> None:
    assert {*STATUSES, *BROKEN, *EMPTY, "quota", "too_long", "hang", "huge_body"} == set(FAULTS)


@pytest.mark.parametrize("fault", [*STATUSES, "quota", "too_long"])
def test_refusals(fault: str) -> None:
    with MockServer(schedule=[fault], retry_after="7") as server:
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(server.url)
        assert caught.value.code == (int(fault) if fault.isdigit() else {"quota": 429, "too_long": 400}[fault])
        assert caught.value.headers["Retry-After"] == ("7" if fault in ("429", "503") else None)
        assert text(ask(server.url)) == "[1]"


@pytest.mark.parametrize("fault", BROKEN)
def test_bodies_that_cannot_be_read(fault: str) -> None:
    with MockServer(schedule=[fault]) as server:
        with pytest.raises((ValueError, http.client.HTTPException, OSError)):
            ask(server.url)
        assert text(ask(server.url)) == "[1]"


@pytest.mark.parametrize("fault", EMPTY)
def test_bodies_that_hold_too_little(fault: str) -> None:
    with MockServer(schedule=[fault]) as server:
        assert len(ask(server.url, n=2).get("choices", ())) < 2
        assert text(ask(server.url)) == "[1]"


def test_hanging_requests_never_answer() -> None:
    with MockServer(schedule=["hang"]) as server, pytest.raises(TimeoutError):
        ask(server.url, timeout=0.2)


def test_unknown_faults_and_paths() -> None:
    with pytest.raises(ValueError, match="teapot"):
        MockServer(faults={"teapot": 1.0})
    with MockServer() as server, pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{server.url}/nothing")


def test_malformed_requests_are_refused() -> None:
    with MockServer() as server:
        request = urllib.request.Request(f"{server.url}/chat/completions", b"{")
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(request)


def test_as_a_process() -> None:
    command = [sys.executable, "-m", "hbench.testing.mock_server", "--answer", "a", "--answer", "b", "--fault", "500=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().strip()
        try:
            said = [text(ask(url, "1")), text(ask(url, "2"))]
        finally:
            process.terminate()
        assert said == ["a", "b"]
        assert process.stderr.read() == ""
