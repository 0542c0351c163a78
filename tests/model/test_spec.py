from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import ModelError, Sampling
from hbench.model import ModelSpec, file_name


def test_argument_keeps_slashes_and_colons() -> None:
    spec = ModelSpec.parse("openai:org/Model-4B:free,base_url=http://127.0.0.1:8000/v1,concurrency=64")
    assert (spec.name, spec.argument) == ("openai", "org/Model-4B:free")
    assert dict(spec.options) == {"base_url": "http://127.0.0.1:8000/v1", "concurrency": 64}


def test_values_are_json_quoted_or_bare() -> None:
    spec = ModelSpec.parse("""m:'a,b',x="c,d",y=[1, "e,f"],z={"k": {"l": 2}},t=true,n=null,w='g,"h"',v=0.5,u=01""")
    assert spec.argument == "a,b"
    assert dict(spec.options) == {
        "x": "c,d", "y": [1, "e,f"], "z": {"k": {"l": 2}}, "t": True, "n": None, "w": 'g,"h"', "v": 0.5, "u": "01",
    }  # fmt: skip


def test_sampling_is_recognised_for_every_model() -> None:
    spec = ModelSpec.parse('hf:m,temperature=0.7,top_k=20,stop=["a","b"],seed=3,max_tokens=9,extra={"x":1}')
    assert spec.sampling == Sampling(temperature=0.7, top_k=20, stop=("a", "b"), seed=3, max_tokens=9, extra={"x": 1})
    assert not spec.options


def test_label_tells_answers_apart_and_leaves_plumbing_out() -> None:
    one = ModelSpec.parse("openai:m,temperature=1,base_url=http://a/v1,concurrency=2")
    assert one.label == "openai:m,temperature=1"
    assert one.label == ModelSpec.parse("openai:m,concurrency=9,temperature=1").label
    assert one.label != ModelSpec.parse("openai:m,temperature=0").label
    assert ModelSpec.parse("openai:m,label=Mine").label == "Mine"
    assert ModelSpec.parse("no_change").label == "no_change"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "name is expected"),
        (":x", "name is expected"),
        ("m:a,b", "key=value"),
        ("m,a=1,a=2", "given twice"),
        ("m,a='x", "never closed"),
        ("m,a=[1", "not JSON"),
        ('m,a="x"y=1', "comma"),
        ("m,temperature=hot", "must be a number"),
        ("m,top_k=1.5", "whole number"),
        ("m,extra=1", "JSON object"),
        ("m,label=3", "label must be text"),
    ],
)
def test_malformed_words_say_where(text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        ModelSpec.parse(text)


@given(
    argument=st.text(min_size=1, max_size=20).filter(lambda s: s.strip()),
    options=st.dictionaries(
        st.from_regex(r"[a-z_]{1,8}", fullmatch=True).filter(lambda s: s not in ("label", "stop", "seed", "extra")),
        st.one_of(st.integers(), st.booleans(), st.text(max_size=9), st.lists(st.text(max_size=4), max_size=3)),
        max_size=4,
    ),
)
def test_whatever_is_quoted_as_json_reads_back(argument: str, options: dict[str, object]) -> None:
    words = [f"m:{json.dumps(argument)}", *(f"{key}={json.dumps(value)}" for key, value in options.items())]
    spec = ModelSpec.parse(",".join(words))
    assert spec.argument == argument
    assert dict(spec.options) == options


@given(st.text(max_size=200), st.text(max_size=200))
def test_file_names_are_harmless_and_distinct(one: str, two: str) -> None:
    name = file_name(one)
    assert 0 < len(name) <= 80
    assert not set(name) & set('/\\:*?"<>|\0 ')
    assert not name.startswith((".", "-"))
    assert (file_name(two).lower() == name.lower()) == (one == two)


def test_path_separators_do_not_leave_the_folder() -> None:
    slug = ModelSpec.parse("replay:../../etc/passwd").slug
    assert "/" not in slug
    assert ".." not in slug


def test_options_may_follow_the_colon() -> None:
    spec = ModelSpec.parse("marginal:mode=sample,label=sampler")
    assert (spec.argument, dict(spec.options), spec.label) == ("", {"mode": "sample"}, "sampler")
    assert ModelSpec.parse("replay:'a=b'").argument == "a=b"
    assert ModelSpec.parse("replay:runs/a=b").argument == "runs/a=b"
