"""One model in a run, as the journal and the scores know it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hbench.core import JsonValue, Request, Sampling
from hbench.run.keys import Key, key_maker


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
