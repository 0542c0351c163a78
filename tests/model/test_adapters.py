from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Message, PluginError, Sampling
from hbench.model import ModelSpec, make_model
from hbench.model.adapters import NoSystem, PlainText, merge_system
from hbench.plugin import load_plugins
from hbench.testing import MockServer

REGISTRY = load_plugins(allow=("behaviorbench",))
TURNS = (Message("system", "You are a player."), Message("user", "How much? Highlight it with [] (such as [$x])."))


def test_the_system_turn_goes_to_the_head_of_the_question() -> None:
    assert NoSystem().messages(TURNS) == (Message("user", f"You are a player.\n\n{TURNS[1].content}"),)
    assert merge_system([Message("system", "a")]) == (Message("user", "a"),)
    assert merge_system(TURNS[1:]) == TURNS[1:]
    last = Message("assistant", "[5]")
    assert merge_system([*TURNS, last])[1:] == (last,)


def test_a_plain_text_ends_with_its_cue() -> None:
    (turn,) = PlainText().messages(TURNS)
    assert turn.content == f"You are a player.\n\n{TURNS[1].content}\n\nAnswer:"
    assert PlainText().answer(" [5]\n") == "[5]"
    assert turn.content + PlainText().continuation("[5]") == f"{turn.content} [5]"


def test_centaur_s_form() -> None:
    adapter = REGISTRY.get("model_adapter", "centaur")()
    user = "Give [$x] or [x], write it in [], leave [ ] open; earlier: [5]. Highlight with [] (such as [$x])."
    (turn,) = adapter.messages((Message("system", "You play [x]."), Message("user", user)))
    assert turn.content == (
        "You play [x].\n"
        "Give <<$x>> or <<x>>, write it in <<>>, leave << >> open; earlier: [5]. "
        "Highlight with [] (such as <<$x>>).\n<<"
    )
    assert adapter.stop == (">>", "\n\n")
    assert adapter.answer("$40") == "<<$40>>"
    assert adapter.continuation("[40]") == "40>>"
    # The usual parser reads it.
    from hbench.core import AnswerSpec, Completion, Parsed, Target

    spec = AnswerSpec((Target(name="x", kind="numeric"),))
    parser = REGISTRY.get("parser", "bracketed_number")()
    assert parser(Completion(adapter.answer("40")), spec) == Parsed((40.0,))


def ask(words: str, bench: SimpleNamespace, server: MockServer, **how: Any) -> Any:
    made = make_model(f"openai:m,base_url={server.url},{words}", bench.Context(), registry=REGISTRY)
    return bench.answer(made.model, bench.requests(2, draws=(0, 1), sampling=made.sampling, **how))


def test_a_model_is_asked_in_its_form_and_answers_in_the_task_s(bench: SimpleNamespace) -> None:
    with MockServer(answer=lambda question: f" {question.prompt[-12:]}|{question.body.get('stop')} ") as server:
        got = ask("adapter=plain_text", bench, server)
    assert got.texts[("1", 1)] == "1?\n\nAnswer:|['\\n\\n']"
    assert len(got.texts) == 4
    with MockServer(answer=lambda question: question.body["prompt"]) as server:
        got = ask("adapter=centaur", bench, server)
    assert got.texts[("1", 0)] == "<<Be a person.\nQuestion 1?\n<<>>"
    with MockServer(answer=lambda question: str([turn["role"] for turn in question.messages])) as server:
        assert set(ask("adapter=no_system", bench, server).texts.values()) == {"['user']"}


def test_an_adapter_belongs_to_the_identity_and_settings_to_the_sampling(bench: SimpleNamespace) -> None:
    def made(words: str) -> Any:
        spec = ModelSpec.parse(f"openai:m,base_url=http://127.0.0.1:1/v1{words}")
        return make_model(spec, bench.Context(), registry=REGISTRY)

    plain = made(",adapter=plain_text")
    assert plain.model.identity["adapter"] == {"name": "hbench/plain_text", "version": 1}
    assert plain.model.identity["chat_template"] is False
    assert made(",adapter=no_system").model.identity["adapter"]["name"] == "hbench/no_system"
    assert "adapter" not in made("").model.identity
    assert made("").sampling == Sampling()
    assert plain.sampling == Sampling(stop=("\n\n",))
    assert made(",adapter=plain_text,stop=END").sampling.stop == ("END",)
    assert ModelSpec.parse("openai:m,adapter=no_system").label == "openai:m,adapter=no_system"
    with pytest.raises(PluginError, match="did you mean 'no_system'"):
        made(",adapter=nosystem")
