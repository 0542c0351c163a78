from __future__ import annotations

import pytest

from hbench.core import ModelError
from hbench.model.health import Health


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def make(patience: float = 60.0) -> tuple[Health, Clock]:
    clock = Clock()
    return Health("m", patience=patience, clock=clock), clock


@pytest.mark.parametrize(("status", "words"), [(401, "environment"), (403, "environment"), (404, "model's name")])
def test_a_bad_key_or_an_unknown_model_ends_it_at_once(status: int, words: str) -> None:
    health, _ = make()
    with pytest.raises(ModelError, match=words):
        health.refused(status, "http://x", "no")


def test_a_forbidden_prompt_among_answers_is_one_failure() -> None:
    health, _ = make()
    health.answered()
    health.refused(403, "http://x", "moderated")
    health.answered()
    health.refused(403, "http://x", "moderated")
    health.refused(403, "http://x", "moderated")
    with pytest.raises(ModelError):
        health.refused(403, "http://x", "moderated")


def test_refusing_everything_from_the_start_ends_it_with_the_servers_words() -> None:
    health, _ = make()
    for _ in range(15):
        health.refused(400, "http://x", "temperature is not supported")
    with pytest.raises(ModelError, match=r"every request.*temperature is not supported"):
        health.refused(400, "http://x", "temperature is not supported")


def test_refusals_after_an_answer_never_end_it() -> None:
    health, _ = make()
    health.answered()
    for _ in range(1000):
        health.refused(400, "http://x", "too long")


def test_an_unreachable_server_is_given_up_after_the_patience() -> None:
    health, clock = make()
    health.answered()
    for _ in range(50):
        health.trouble("http://x", "refused", reached=False)
    assert not health.reachable
    clock.now = 61.0
    with pytest.raises(ModelError, match="cannot be reached for 61 s"):
        health.trouble("http://x", "refused", reached=False)


def test_one_answer_resets_the_patience() -> None:
    health, clock = make()
    for second in range(0, 600, 10):
        clock.now = float(second)
        health.trouble("http://x", "HTTP 500", reached=True)
        health.answered()


def test_a_server_that_only_fails_is_given_up() -> None:
    health, clock = make()
    for second in range(19):
        clock.now = float(second * 10)
        health.trouble("http://x", "HTTP 500", reached=True)
    with pytest.raises(ModelError, match="no usable answer"):
        health.trouble("http://x", "HTTP 500", reached=True)
