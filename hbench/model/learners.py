"""The statistical learners by the names that `--model` knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import cpu_count

from hbench.core import JsonValue, ModelContext, ModelError
from hbench.learn import Boosting, Kind, Lasso, Learner, Logit, LogitL1, Network, RandomForest, Ridge
from hbench.model.learned import Learned, MakeLearner
from hbench.model.options import Options

Create = Callable[[str, Mapping[str, JsonValue], ModelContext], Learned]


def _for(*makes: Callable[[int], Learner]) -> MakeLearner:
    """Return what makes the first of several learners that can fit a kind."""

    def make(kind: Kind, seed: int) -> Learner | None:
        return next((learner for learner in (make(seed) for make in makes) if kind in learner.kinds), None)

    return make


def create_linear(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Learned:
    """Make ``linear``: ridge for numbers and shares, logit for classes (option ``rows``)."""
    make = _for(lambda _: Ridge(), lambda _: Logit())
    return _plain("linear", make, argument, options, context, rows=50_000)


def create_lasso(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Learned:
    """Make ``lasso``, for numbers (option ``rows``)."""
    return _plain("lasso", _for(lambda seed: Lasso(seed=seed)), argument, options, context, rows=50_000)


def create_logit_l1(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Learned:
    """Make ``logit_l1``, for classes (option ``rows``)."""
    return _plain("logit_l1", _for(lambda seed: LogitL1(seed=seed)), argument, options, context, rows=20_000)


def create_mlp(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Learned:
    """Make ``mlp``, the two-layer network (option ``rows``)."""
    return _plain("mlp", _for(lambda seed: Network(seed=seed)), argument, options, context, rows=50_000)


def create_random_forest(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Learned:
    """Make ``random_forest`` (options ``trees``, ``leaf``, ``rows``)."""
    read = _options("random_forest", argument, options)
    trees, leaf = read.integer("trees", 300), read.integer("leaf", 5)
    rows = read.integer("rows", 50_000)
    read.finish()
    make = _for(lambda seed: RandomForest(trees=trees, leaf=leaf, seed=seed, threads=_threads()))
    return Learned(context, "random_forest", make, settings={"trees": trees, "leaf": leaf}, rows=rows)


def create_xgboost(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Learned:
    """Make ``xgboost`` (options ``preset``: ``full`` or ``demo``, ``rows``, ``validation_rows``).

    Row caps are the reference's (facts on XGBoost, training rows).
    """
    read = _options("xgboost", argument, options)
    preset = read.choice("preset", "full", ("full", "demo"))
    rows, validation_rows = read.integer("rows", 400_000), read.integer("validation_rows", 50_000)
    read.finish()
    make = _for(lambda seed: Boosting(preset="demo" if preset == "demo" else "full", seed=seed))
    return Learned(
        context,
        "xgboost",
        make,
        settings={"preset": preset},
        rows=rows,
        validation_rows=validation_rows,
        mark="" if preset == "full" else f"preset={preset}",
    )


def _plain(
    name: str,
    make: MakeLearner,
    argument: str,
    options: Mapping[str, JsonValue],
    context: ModelContext,
    *,
    rows: int,
) -> Learned:
    read = _options(name, argument, options)
    rows = read.integer("rows", rows)
    read.finish()
    return Learned(context, name, make, settings={}, rows=rows)


def _options(name: str, argument: str, options: Mapping[str, JsonValue]) -> Options:
    if argument:
        raise ModelError(f"`{name}` takes no argument, got {argument!r}")
    return Options(name, options)


def _threads() -> int:
    return min(4, cpu_count() or 1)
