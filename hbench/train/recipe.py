"""A recipe: one YAML file from training data to the tuned model's gain."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from hbench.core import TrainingError
from hbench.core.target import Frozen
from hbench.spec.faults import sentences
from hbench.train.config import TrainConfig, read_config


class ExportPart(Frozen):
    """What is learned from; as the options of `hbench sft export`."""

    tasks: tuple[str, ...] = Field(min_length=1)
    per_task: int | None = Field(default=None, ge=1)
    validation: int = Field(default=200, ge=0)
    allow_policy: bool = False
    drop_leaks: bool = False

    _one = field_validator("tasks", mode="before")(lambda raw: [raw] if isinstance(raw, str) else raw)


class EvaluatePart(Frozen):
    """What both models are asked; as the options of `hbench eval`."""

    tasks: tuple[str, ...] = Field(min_length=1)
    """Tasks that were not trained on are held out, and shown apart."""
    draws: int | None = Field(default=16, ge=1)
    """Answers that are aggregated; null: as many as each task says."""
    limit: int | None = Field(default=None, ge=1)
    splits: tuple[str, ...] = ()
    engine: Literal["hf", "vllm"] = "hf"
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the engine and of generation, as ``{temperature: 0.7, max_tokens: 64}``."""

    _one = field_validator("tasks", mode="before")(lambda raw: [raw] if isinstance(raw, str) else raw)


class ComparePart(Frozen):
    """How the two are compared; as the options of `hbench report`."""

    rows: Literal["own", "common", "strict"] = "own"
    resamples: int = Field(default=10_000, ge=100)
    level: float = Field(default=0.95, gt=0, lt=1)
    clusters: bool = False


class Recipe(Frozen):
    """Export, training and evaluation of one model."""

    model: str
    """The base model: a folder, or a name on the Hugging Face hub."""
    data: tuple[str, ...] = ()
    """``[SUITE=]KIND`` or folders, for training and evaluation alike."""
    seed: int = 42
    export: ExportPart
    train: dict[str, Any] = Field(default_factory=dict)
    """Settings of `hbench.train.config.TrainConfig`, but for the model."""
    evaluate: EvaluatePart
    compare: ComparePart = Field(default_factory=ComparePart)

    _some = field_validator("data", mode="before")(lambda raw: [raw] if isinstance(raw, str) else raw)

    def config(self) -> TrainConfig:
        """Return the training's settings. Raises `TrainingError` for unknown ones and impossible values."""
        return read_config(**{"seed": self.seed, **self.train, "model": self.model})


def read_recipe(file: Path, **given: Any) -> Recipe:
    """Read a recipe.

    Parameters
    ----------
    file : Path
        A YAML mapping.
    **given
        Keys that go before the file's; None says nothing.

    Raises
    ------
    TrainingError
        For what cannot be read, unknown keys and impossible values.
    """
    try:
        raw = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise TrainingError(f"the recipe cannot be read: {error.strerror}", file=file) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise TrainingError(f"the recipe is not valid YAML: {error}", file=file) from error
    if not isinstance(raw, dict):
        raise TrainingError("the recipe is no mapping", file=file, hint="See docs/fine-tuning.md.")
    raw |= {name: value for name, value in given.items() if value is not None}
    try:
        recipe = Recipe.model_validate(raw)
    except ValidationError as error:
        raise TrainingError("; ".join(sentences(error, Recipe)), file=file, hint="See docs/fine-tuning.md.") from error
    try:
        recipe.config()
    except TrainingError as error:
        error.file = error.file or str(file)
        raise
    return recipe
