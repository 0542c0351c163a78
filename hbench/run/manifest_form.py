"""What a manifest must hold, so that a damaged one is told and not met half-way through a report."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hbench.core import InvalidPolicy
from hbench.spec.faults import sentences


class _Part(BaseModel):
    # Parts of later versions of hbench are no fault.
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Spent(_Part):
    answers: int
    tokens_in: int
    tokens_out: int
    cost: float | None


class _Model(_Part):
    label: str
    identity: dict[str, Any]
    reads: Literal["messages", "record"]
    sampling: dict[str, Any]
    unsupported: dict[str, str]
    slug: str
    key: str = Field(pattern="^([0-9a-f]{2})+$")
    family: str | None = None
    spent: _Spent | None = None


class _Settings(_Part):
    limit: int | None
    draws: int | None
    seed: int
    sample: Literal["eval", "all"]
    splits: tuple[str, ...]
    repairs: tuple[str, ...]
    policy: InvalidPolicy | None
    without: tuple[str, ...] = ()
    answer_mode: Literal["text", "loglikelihood"] = "text"


class _Data(_Part):
    kind: str
    fingerprint: str
    splits: tuple[str, ...]
    draws: int = Field(ge=1)


class _Choice(_Part):
    value: str
    suite: str | None


class _LeftOut(_Part):
    task: str
    reason: str


class _Versions(_Part):
    hbench: str
    python: str
    system: str


class _Plugin(_Part):
    name: str
    distribution: str
    version: str
    status: str


class _Manifest(_Part):
    plan: str
    started: str
    finished: str | None
    status: str
    command: tuple[str, ...]
    tasks: tuple[str, ...]
    left_out: tuple[_LeftOut, ...] = ()
    models: tuple[_Model, ...]
    settings: _Settings
    data: dict[str, _Data]
    choices: tuple[_Choice, ...]
    include_paths: tuple[str, ...]
    versions: _Versions
    plugins: tuple[_Plugin, ...]

    @model_validator(mode="after")
    def _every_task_has_data(self) -> _Manifest:
        if missing := [name for name in self.tasks if name not in self.data]:
            raise ValueError(f"`data` does not tell of {', '.join(missing)}")
        return self


def faults(manifest: object) -> list[str]:
    """Return what is wrong with a manifest, a sentence each; nothing where it is whole."""
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        return sentences(error, _Manifest)
    return []
