from __future__ import annotations

from types import SimpleNamespace

import pytest

from hbench.core import ModelError
from hbench.model import ModelSpec, make_model
from hbench.model.baselines import Marginal
from hbench.model.openai import OpenAI


class Registry:
    def get(self, kind: str, name: str, *, suite: str | None = None) -> object:
        assert kind == "model"
        return {"marginal": Marginal.create, "openai": OpenAI.create}[name]


def test_makes_a_model_from_its_words(bench: SimpleNamespace) -> None:
    model = make_model("marginal,mode=sample", bench.Context(), registry=Registry())  # type: ignore[arg-type]
    assert model.identity["mode"] == "sample"


def test_settings_of_generation_belong_to_models_that_generate(bench: SimpleNamespace) -> None:
    with pytest.raises(ModelError, match="marginal has no option 'temperature'"):
        make_model("marginal,temperature=1", bench.Context(), registry=Registry())  # type: ignore[arg-type]
    spec = ModelSpec.parse("openai:m,base_url=http://127.0.0.1:1/v1,temperature=1")
    assert make_model(spec, bench.Context(), registry=Registry()).reads == "messages"  # type: ignore[arg-type]


def test_the_nearest_of_options_and_settings_is_named(bench: SimpleNamespace) -> None:
    with pytest.raises(ModelError, match="did you mean 'temperature'"):
        make_model("openai:m,base_url=http://x/v1,temprature=1", bench.Context(), registry=Registry())  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="did you mean 'concurrency'"):
        make_model("openai:m,base_url=http://x/v1,concurency=1", bench.Context(), registry=Registry())  # type: ignore[arg-type]
