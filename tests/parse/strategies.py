"""Hypothesis strategies for parsers: answer specs, any JSON value, values that fit a spec."""

from __future__ import annotations

from hypothesis import strategies as st

from hbench.core import AnswerSpec, Target, Value, Values

KINDS = ("numeric", "categorical", "probability", "ordinal")
LABELS = ("employed", "unemployed", "not_in_labor_force", "1", "2")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
"""Anything that a prediction file may hold, NaN and infinities included."""

noise = st.text(alphabet='[]{}",:\\ \n0123456789.-+eE$<>/thinkabcNaIyfu', max_size=60)
"""Text that comes close to JSON."""


@st.composite
def targets(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> Target:
    kind = draw(st.sampled_from(kinds))
    labels = LABELS[: draw(st.integers(2, len(LABELS)))] if kind in ("categorical", "probability") else ()
    return Target(name=draw(st.sampled_from("abcd")), kind=kind, labels=labels)


def answers(**kinds: tuple[str, ...]) -> st.SearchStrategy[AnswerSpec]:
    return st.builds(AnswerSpec, targets=st.lists(targets(**kinds), min_size=1, max_size=4).map(tuple))


def value_of(target: Target) -> st.SearchStrategy[Value]:
    if target.kind == "categorical":
        return st.sampled_from(target.labels)
    if target.kind == "probability":
        weights = st.lists(st.floats(0.001, 1), min_size=len(target.labels), max_size=len(target.labels))
        return weights.map(lambda w: tuple(x / sum(w) for x in w))
    if target.kind == "ordinal":
        return st.integers(-(10**6), 10**6)
    return st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def answered(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> tuple[AnswerSpec, Values]:
    answer = draw(answers(kinds=kinds))
    return answer, tuple(draw(value_of(target)) for target in answer.targets)
