"""The models of a run: what they are called, what their answers depend on, and which tasks they cannot do."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from hbench.core import JsonValue, Model, ModelContext, ModelError, Request, Sampling
from hbench.core.errors import foreign
from hbench.run.keys import Key, key_maker, model_digest
from hbench.run.plan import Plan, PlannedTask
from hbench.run.scrub import scrub

if TYPE_CHECKING:
    from collections.abc import Callable

    from hbench.model import Made, ModelSpec
    from hbench.plugin import Registry


@dataclass(frozen=True)
class Entrant:
    """One model in a run, as the journal knows it. Scoring needs no more: the model itself may be gone.

    Attributes
    ----------
    label : str
        Name in tables; unique in the run.
    identity : mapping
        All that changes its answers.
    reads : {"messages", "record"}
        What its answers may depend on.
    sampling : Sampling
        Generation settings.
    unsupported : mapping
        Tasks that it cannot do, with the reason.
    slug : str
        The label as a file name.
    digest : str
        Names all that its answers depend on. It outlives the scrubbing of secrets from the rest.
    family : str or None
        The family of models whose settings completed the sampling.
    """

    label: str
    identity: Mapping[str, JsonValue]
    reads: Literal["messages", "record"]
    sampling: Sampling = field(default_factory=Sampling)
    unsupported: Mapping[str, str] = field(default_factory=dict)
    slug: str = ""
    digest: str = ""
    family: str | None = None

    @property
    def depends(self) -> dict[str, JsonValue]:
        """Everything that its answers depend on besides the question, as JSON values."""
        sampling = dataclasses.asdict(self.sampling)
        return {
            "identity": dict(self.identity),
            "reads": self.reads,
            "sampling": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in sampling.items()
                if value not in (None, (), {})
            },
        }

    @property
    def key(self) -> Callable[[Request], Key]:
        """Function that names its requests."""
        return key_maker(self.digest, self.reads)

    def tasks(self, plan: Plan) -> list[PlannedTask]:
        """Return the tasks that it is asked."""
        return [planned for planned in plan.tasks if planned.name not in self.unsupported]

    def dump(self) -> dict[str, JsonValue]:
        """Return the entrant as JSON values, for the manifest."""
        return {
            "label": self.label,
            **self.depends,
            "unsupported": dict(self.unsupported),
            "slug": self.slug,
            **({"family": self.family} if self.family else {}),
        }

    @classmethod
    def load(cls, about: Mapping[str, JsonValue]) -> Entrant:
        """Read the entrant from a manifest."""
        sampling: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in about["sampling"].items()
        }
        return cls(
            label=about["label"],
            identity=about["identity"],
            reads=about["reads"],
            sampling=Sampling(**sampling),
            unsupported=about["unsupported"],
            slug=about["slug"],
            digest=about["key"],
            family=about.get("family"),
        )


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
