"""What a run's manifest claims, read without believing it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hbench.run.entrant import Entrant
from hbench.run.keys import model_digest
from hbench.run.manifest import settings_of
from hbench.run.plan import Settings
from hbench.spec.faults import sentences
from hbench.submit.entry import Digest, Line
from hbench.submit.refusal import Refusal, Refused

MOST_DRAWS = 10_000
"""Draws per record that are believed."""


class _Claims(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ModelClaims(_Claims):
    """A model, as the manifest has it."""

    label: Line
    key: Digest
    slug: Line
    identity: dict[str, Any]
    reads: Literal["messages", "record"]
    sampling: dict[str, Any]
    unsupported: dict[str, str]
    family: str | None = None


class DataClaims(_Claims):
    """A task's data."""

    kind: str
    fingerprint: str
    splits: tuple[str, ...]
    draws: int = Field(ge=1, le=MOST_DRAWS)


class Versions(_Claims):
    """Versions of programs."""

    hbench: Line


class Manifest(_Claims):
    """The parts of a manifest that a check needs."""

    version: Literal[1]
    plan: Digest
    status: str
    tasks: tuple[str, ...] = Field(min_length=1)
    models: tuple[ModelClaims, ...] = Field(min_length=1)
    settings: dict[str, Any]
    data: dict[str, DataClaims]
    specs: dict[str, Digest] = Field(default_factory=dict)
    versions: Versions

    def chosen(self) -> Settings:
        """Return the run's settings."""
        return settings_of({"settings": self.settings})

    def entrants(self) -> list[Entrant]:
        """Return the run's models."""
        return [Entrant.load(about.model_dump()) for about in self.models]


def read_claims(file: Path, place: str) -> Manifest:
    """Read a manifest.

    Raises
    ------
    Refused
        When it is no manifest, or one of another version.
    """
    try:
        claims = Manifest.model_validate(json.loads(file.read_bytes()))
        claims.chosen()
        claims.entrants()
    except ValidationError as error:
        raise Refused("malformed", place, sentences(error, Manifest)[0]) from error
    except Exception as error:  # Anything at all may stand in a stranger's file.
        raise Refused("malformed", place, f"it is no manifest of a run: {type(error).__name__}: {error}") from error
    return claims


def check_claims(claims: Manifest, place: str, *, version: str | None) -> list[Refusal]:
    """Return what a manifest itself says against its run."""
    found: list[Refusal] = []
    settings = claims.chosen()
    if claims.status != "done":
        found.append(Refusal("incomplete", place, f"the run is {claims.status!r}, not done"))
    if settings.limit is not None:
        found.append(Refusal("incomplete", place, f"the run was limited to {settings.limit} records of each task"))
    if settings.splits:
        found.append(Refusal("incomplete", place, f"the run is of {', '.join(settings.splits)} only (--split)"))
    if version is not None and claims.versions.hbench != version:
        message = f"the run is of hbench {claims.versions.hbench}, and this is {version}"
        found.append(Refusal("version", place, message))
    found += [
        Refusal("malformed", place, f"the manifest does not tell data and spec of {name}")
        for name in claims.tasks
        if name not in claims.data or name not in claims.specs
    ]
    labels = [about.label for about in claims.models]
    if len(set(labels)) < len(labels) or len({about.slug for about in claims.models}) < len(labels):
        found.append(Refusal("malformed", place, "two models have one name"))
    for about, entrant in zip(claims.models, claims.entrants(), strict=True):
        found += _check_identity(about, entrant, place)
    return found


def _check_identity(about: ModelClaims, entrant: Entrant, place: str) -> list[Refusal]:
    from hbench.model import file_name

    found: list[Refusal] = []
    if about.slug != file_name(about.label):
        found.append(Refusal("malformed", place, f"{about.label}: {about.slug!r} is not its folder's name"))
    if not about.identity:
        found.append(Refusal("identity", place, f"{about.label}: the manifest does not say which model it is"))
    # What was scrubbed of an identity is not there to be hashed.
    scrubbed = "***" in json.dumps([about.identity, about.sampling])
    if not scrubbed and model_digest(entrant.identity, entrant.sampling, entrant.reads) != about.key:
        found.append(Refusal("identity", place, f"{about.label}: identity and sampling are not those of its key"))
    return found
