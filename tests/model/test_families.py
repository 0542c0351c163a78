from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from hbench.core import ModelError, Sampling
from hbench.model import Family, Made, ModelSpec, make_model
from hbench.model.families import find_family
from hbench.plugin import Registry, load_plugins
from hbench.plugin.scope import ComponentInfo

REGISTRY = load_plugins(allow=())
AT = "base_url=http://127.0.0.1:1/v1"
MINE = Family("qwen3-mine", {"temperature": 0.1}, "mine")


def made(words: str, bench: SimpleNamespace) -> Made:
    return make_model(words, bench.Context(), registry=REGISTRY)


@pytest.mark.parametrize(
    ("words", "family", "settings"),
    [
        # HouseholdBench paper: Qwen without thinking; DeepSeek at medium effort; all others at the provider's defaults.
        (
            'Qwen/Qwen3.5-4B,extra={"chat_template_kwargs": {"enable_thinking": false}}',
            "hbench/qwen3_non_thinking",
            {"temperature": 0.7, "top_p": 0.8, "top_k": 20},
        ),
        ("deepseek-v4", "hbench/deepseek", {"reasoning_effort": "medium"}),
        ("gpt-5.6", None, {}),
        # BehaviorBench's presets.
        ("qwen3-4b", "hbench/qwen3", {"temperature": 0.6, "top_p": 0.95, "top_k": 20}),
        ("Qwen2.5-7B-Instruct", "hbench/qwen2_5", {"temperature": 0.7, "top_p": 0.8, "top_k": 20}),
        ("meta-llama/Llama-3.1-70B", "hbench/llama3", {"temperature": 0.6, "top_p": 0.9}),
        ("Qwen3-4B-Instruct-2507", "hbench/qwen3_instruct", {"temperature": 0.7, "top_p": 0.8, "top_k": 20}),
        # What the user says comes first, setting by setting.
        ("qwen3-4b,temperature=1", "hbench/qwen3", {"temperature": 1, "top_p": 0.95, "top_k": 20}),
        ("qwen3-4b,temperature=0", None, {"temperature": 0}),
        ("qwen3-4b,family=off", None, {}),
        ("my-own,family=llama3", "llama3", {"temperature": 0.6, "top_p": 0.9}),
    ],
)
def test_settings_of_a_family_hold_where_nothing_is_said(
    words: str, family: str | None, settings: dict[str, object], bench: SimpleNamespace
) -> None:
    name, _, options = words.partition(",")
    found = made(f"openai:{name},{AT},{options}".removesuffix(","), bench)
    assert found.family == family
    told = {key: getattr(found.sampling, key) for key in settings}
    assert told == settings
    unset = {"temperature", "top_p", "top_k", "min_p", "reasoning_effort", "max_tokens"} - set(settings)
    assert all(getattr(found.sampling, key) is None for key in unset)


def test_a_folder_tells_its_family(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen3"}))
    spec = ModelSpec.parse(f"hf:{tmp_path},enable_thinking=false")
    found = find_family(spec, REGISTRY)
    assert found is not None
    assert found[0] == "hbench/qwen3_non_thinking"
    # Efforts are for servers; transformers have none.
    assert find_family(ModelSpec.parse("hf:deepseek-ai/x"), REGISTRY) is None


def test_a_plugin_s_family_goes_before_the_built_in_ones() -> None:
    def registry(*suites: str) -> Registry:
        own = [ComponentInfo("family", "mine", suite, f"{__name__}:MINE") for suite in suites]
        found = Registry([*REGISTRY.names(), *own])
        for info in own:
            found._imported[info] = MINE
        return found

    spec = ModelSpec.parse("openai:qwen3-mine")
    found = find_family(spec, registry("mine"))
    assert found is not None
    assert found == ("mine/mine", MINE)
    with pytest.raises(ModelError, match="belongs to mine/mine and yours/mine"):
        find_family(spec, registry("mine", "yours"))
    assert Sampling() == spec.sampling
