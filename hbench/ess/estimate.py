"""Equivalent sample size for any data frame (Gao, Han and Liang)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hbench.ess.curve import Curve, Point, is_decided
from hbench.ess.options import Options
from hbench.ess.problem import Problem
from hbench.ess.sizes import training_sizes
from hbench.ess.study import Fits, average
from hbench.learn import Feature, Kind, Rows

MEAN = "mean of targets"
"""Name of the curve of all targets together."""


Progress = Callable[[Point, float], None]
"""Is given each point when it is there (of several targets: that of their mean), and the share of the work done."""


def equivalent_sample_size(
    X: Rows,  # noqa: N803 - scikit-learn's name
    y: Any,
    llm_predictions: Any,
    *,
    training: tuple[Rows, Any] | None = None,
    features: Sequence[Feature] | None = None,
    outcome: Kind | None = None,
    weights: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> Curve:
    """Estimate how many human observations a fixed rule's predictions are worth to an algorithm.

    Parameters
    ----------
    X : data frame
        Predictors of the people, numbers or texts, missing values allowed.
    y : array (n,) or (n, k)
        What they did: numbers, texts (classes), or shares of k events. Rows without it count on neither side.
    llm_predictions : array, as `y`
        The rule's predictions; None or NaN where it gave none. Such rows count on neither side.
    training : tuple or None
        Rows and outcomes to train on; `X`, `y` are then a separate test sample. None trains on blocks of `X` itself.
    features : sequence of Feature or None
        Predictors (default: the frame's columns by their types).
    outcome : {"number", "class", "shares"} or None
        What the outcome is (default: what its values say; 0 and 1 are numbers).
    weights : array (n,) or None
        What the loss of each row of `X` is multiplied by.
    progress : callable or None
        See `Progress`.
    **options
        See `Options`: ``algorithm``, ``sizes``, ``alpha``, ...

    Returns
    -------
    Curve
        Points, bound, counts and notes.

    Raises
    ------
    HbenchError
        Lengths differ, nothing is answered, a size is impossible, or the algorithm is not for the outcome.
    """
    curves = equivalent_sample_sizes(
        X,
        {"y": y},
        {"y": llm_predictions},
        training=None if training is None else (training[0], {"y": training[1]}),
        features=features,
        outcome=outcome,
        weights=weights,
        progress=progress,
        **options,
    )
    return curves["y"]


def equivalent_sample_sizes(
    X: Rows,  # noqa: N803
    outcomes: Mapping[str, Any],
    predictions: Mapping[str, Any],
    *,
    training: tuple[Rows, Mapping[str, Any]] | None = None,
    features: Sequence[Feature] | None = None,
    outcome: Kind | None = None,
    weights: Any = None,
    progress: Progress | None = None,
    fits: Fits | None = None,
    **options: Any,
) -> dict[str, Curve]:
    """Estimate it for several outcomes of the same people, on the same blocks, and for their mean.

    Takes what `equivalent_sample_size` takes, outcomes and predictions by name. A row counts if it has all of them. The
    curve `MEAN` averages the outcomes' losses; squared and absolute errors are divided by those of the best constant in
    the training sample first, so that units do not matter.

    `fits` holds what earlier calls with the same training sample and options, but another rule, have fitted, and takes
    up what this one fits: rules that answered the same rows share their fits.
    """
    choices = Options(**options)
    problem = Problem.read(X, outcomes, predictions, training, features, outcome, weights)
    studies, scales, notes = problem.studies(choices, {} if fits is None else fits)
    first = next(iter(studies.values()))
    sizes = training_sizes(choices.sizes, len(first.design.source), separate=training is not None)
    # A fit costs about as much as its rows and the rows that it is tested on.
    work = np.cumsum([first.blocks(size) * (size + len(first.population)) for size in sizes])
    points: dict[str, list[Point]] = {name: [] for name in (*studies, *([MEAN] if len(studies) > 1 else []))}
    ahead = sizes if choices.executor is not None and choices.whole_curve else []
    running = [study.fit(ahead) for study in studies.values()]
    for size, done in zip(sizes, work, strict=True):
        for fits_of_size in running:
            next(fits_of_size, None)
        measured = {name: study.measure(size) for name, study in studies.items()}
        if len(studies) > 1:
            measured[MEAN] = average(measured, scales)
        for name, one in measured.items():
            points[name].append(one.point(paired=choices.paired))
        if progress is not None:
            progress(points[name][-1], float(done / work[-1]))
        if not choices.whole_curve and all(is_decided(found, alpha=choices.alpha) for found in points.values()):
            break
    rules = {name: study.rule for name, study in studies.items()}
    if len(studies) > 1:
        rules[MEAN] = np.mean([rule / scales[name] for name, rule in rules.items()], axis=0)
        notes[MEAN] = [f"{name}: {note}" for name, told in notes.items() for note in told]
    return {name: problem.curve(first, found, rules[name], notes[name], choices) for name, found in points.items()}
