"""Making the models of a run: what they are called, and which tasks they cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from hbench.core import Model, ModelContext, ModelError, Sampling
from hbench.core.errors import foreign
from hbench.run.entrant import Entrant
from hbench.run.keys import model_digest
from hbench.run.plan import Plan, PlannedTask
from hbench.run.scrub import scrub

if TYPE_CHECKING:
    from hbench.model import Made, ModelSpec
    from hbench.plugin import Registry


def make_entrants(
    given: Sequence[str | ModelSpec | Model], plan: Plan, context: ModelContext, *, registry: Registry
) -> list[tuple[Entrant, Model]]:
    """Make the models of a run from their words; models that are made already are taken as they are.

    Models that generate answer as the plan's settings say, unless their words say otherwise.

    Raises
    ------
    ModelError
        When a model cannot be made, or two models have the same label.
    """
    from hbench.model import Made, ModelSpec, make_model

    entrants: list[tuple[Entrant, Model]] = []
    for words in given:
        if isinstance(words, str | ModelSpec):
            spec = ModelSpec.parse(words) if isinstance(words, str) else words
            label, mode = spec.label, plan.settings.answer_mode
            with foreign(f"making the model {scrub(label)}", ModelError):
                made = make_model(spec, context, registry=registry, answer_mode=mode)
        else:
            made = Made(words, Sampling())
            label = str(getattr(words, "name", None) or type(words).__name__)
        # The label is shown and stored everywhere, and with it what must be known of a model wherever it is shown.
        mark = str(getattr(made.model, "mark", ""))
        label = scrub(label if mark in label else f"{label} ({mark})")
        if any(entrant.label == label for entrant, _ in entrants):
            raise ModelError(f"two models are called {label!r}", hint="Tell them apart with label=NAME in one of them.")
        with foreign(f"model {label}", ModelError):
            entrants.append((entrant_of(label, made, plan), made.model))
    return entrants


def entrant_of(label: str, made: Made, plan: Plan) -> Entrant:
    """Return what the run must know of a model."""
    from hbench.model import file_name

    model, sampling = made.model, made.sampling
    unsupported = {}
    for planned in plan.tasks:
        reason = model.unsupported(planned.name) or _unreadable(model, planned)
        if reason is not None:
            unsupported[planned.name] = reason
    return Entrant(
        label=label,
        identity=dict(model.identity),
        reads=model.reads,
        sampling=sampling,
        unsupported=unsupported,
        slug=file_name(label),
        digest=model_digest(model.identity, sampling, model.reads),
        family=made.family,
    )


def _unreadable(model: Model, planned: PlannedTask) -> str | None:
    if model.reads != "messages":
        return None
    # Records of one file are alike: the first tells whether there are prompts.
    for record in islice(planned.records(), 1):
        if not record.messages:
            return "the records have no prompts, only predictors"
    return None
