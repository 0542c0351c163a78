from __future__ import annotations

from types import SimpleNamespace

import pytest

from hbench.core import ModelError
from hbench.model import ModelSpec, make_model
from hbench.plugin import load_plugins

REGISTRY = load_plugins(allow=())


def test_makes_a_model_from_its_words(bench: SimpleNamespace) -> None:
    model = make_model("marginal,mode=sample", bench.Context(), registry=REGISTRY).model
    assert model.identity["mode"] == "sample"


def test_settings_of_generation_belong_to_models_that_generate(bench: SimpleNamespace) -> None:
    with pytest.raises(ModelError, match="marginal has no option 'temperature'"):
        make_model("marginal,temperature=1", bench.Context(), registry=REGISTRY)
    spec = ModelSpec.parse("openai:m,base_url=http://127.0.0.1:1/v1,temperature=1")
    assert make_model(spec, bench.Context(), registry=REGISTRY).model.reads == "messages"


def test_the_nearest_of_options_and_settings_is_named(bench: SimpleNamespace) -> None:
    with pytest.raises(ModelError, match="did you mean 'temperature'"):
        make_model("openai:m,base_url=http://x/v1,temprature=1", bench.Context(), registry=REGISTRY)
    with pytest.raises(ModelError, match="did you mean 'concurrency'"):
        make_model("openai:m,base_url=http://x/v1,concurency=1", bench.Context(), registry=REGISTRY)


def test_what_only_generating_models_can_do(bench: SimpleNamespace) -> None:
    for words in ("adapter=no_system", "answer_mode=loglikelihood", "family=off"):
        with pytest.raises(ModelError, match=f"marginal has no option '{words.partition('=')[0]}'"):
            make_model(f"marginal,{words}", bench.Context(), registry=REGISTRY)
    with pytest.raises(ModelError, match="marginal takes no plain text, which is what the adapter plain_text writes"):
        make_model("marginal,adapter=plain_text", bench.Context(), registry=REGISTRY)
    # What the command says of all models concerns those that generate.
    made = make_model("marginal", bench.Context(), registry=REGISTRY, answer_mode="loglikelihood")
    assert "answer_mode" not in made.model.identity


def test_likelihoods_take_no_generation_settings(bench: SimpleNamespace) -> None:
    words = "openai:m,base_url=http://127.0.0.1:1/v1"
    with pytest.raises(ModelError, match=r"nothing is generated under answer_mode=loglikelihood.* no top_p"):
        make_model(f"{words},answer_mode=loglikelihood,top_p=0.5", bench.Context(), registry=REGISTRY)
    with pytest.raises(ModelError, match="length belongs to answer_mode=loglikelihood"):
        make_model(f"{words},length=bytes", bench.Context(), registry=REGISTRY)
    with pytest.raises(ModelError, match="answer_mode='likelihood' must be one of text, loglikelihood"):
        make_model(f"{words},answer_mode=likelihood", bench.Context(), registry=REGISTRY)
