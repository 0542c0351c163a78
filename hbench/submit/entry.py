"""A submission's entry for a board, and what a submitter says beside the runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Line = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""A short text in one line."""
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AboutModel(_Part):
    """What a submitter says of a model."""

    name: Line
    """Name and version, as its makers call it."""
    url: Annotated[str, Field(max_length=500, pattern=r"^https://[^\s<>\"']+$")] | None = None
    notes: Line | None = None


class Submission(_Part):
    """``submission.json``: who submits, and which models these are."""

    by: Line | None = None
    models: dict[Line, AboutModel] = Field(default_factory=dict)
    """By the label that the run gives the model."""


class EntryModel(_Part):
    """A model of an entry."""

    label: Line
    name: Line
    identity: dict[str, Any]
    sampling: dict[str, Any]
    family: str | None = None
    key: Digest
    unsupported: dict[str, str] = Field(default_factory=dict)
    """Tasks that it was not asked, with the reason."""
    url: str | None = None
    notes: str | None = None


class EntryTask(_Part):
    """A task of an entry, with what its scores were checked against."""

    data: str
    """Kind of data."""
    fingerprint: str
    spec: Digest
    splits: tuple[str, ...]
    draws: int


class EntryRun(_Part):
    """A run of an entry."""

    folder: str
    plan: Digest
    settings: dict[str, Any]
    tasks: dict[str, EntryTask]
    models: tuple[EntryModel, ...]
    scores: tuple[dict[str, Any], ...]
    """Tidy rows of tasks and targets, recomputed here."""


class Entry(_Part):
    """What a board keeps of a submission."""

    format: Literal["hbench board entry"] = "hbench board entry"
    version: Literal[1] = 1
    hbench: str
    submission: Submission
    synthetic: bool
    """Whether any data are synthetic: such scores say nothing about people."""
    notices: tuple[str, ...]
    """Texts that data providers require to be shown."""
    runs: tuple[EntryRun, ...]
    files: dict[str, Digest]
    """SHA-256 of all that was checked."""
