"""The settings of a training, read from YAML and from ``key=value`` words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from hbench.core import TrainingError
from hbench.core.target import Frozen
from hbench.spec import suggestion
from hbench.spec.faults import sentences

Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]


class TrainConfig(Frozen):
    """All that shapes a training.

    The defaults are BehaviorBench's settings where its paper states them (appendix D.1: LoRA of rank 8 with alpha 32 on
    all linear layers, a peak rate of 1e-4, one epoch, 2,048 tokens, batches of 128), for HouseholdBench's own table is
    lost. What the paper leaves open are the defaults of ms-swift, which it used, but for the warm-up.
    """

    model: str
    """The base model: a folder, or a name on the Hugging Face hub."""
    revision: str | None = None
    """Branch, tag or commit on the hub."""
    chat_template: Path | None = None
    """A Jinja file that takes the place of the tokenizer's own chat template."""
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the chat template, as ``{enable_thinking: false}``; the evaluation must use the same."""

    loss: Literal["ce", "ntl"] = "ce"
    """Cross-entropy alone, or with the number-token loss."""
    ntl_weight: Annotated[float, Field(ge=0)] = 0.3
    """Weight of the number-token loss (Zausinger et al., 2025, recommend 0.3)."""

    lora_rank: Positive = 8
    lora_alpha: Annotated[float, Field(gt=0)] = 32
    lora_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.05
    lora_modules: str | tuple[str, ...] = "all-linear"
    """Modules that get an adapter: ``all-linear`` (the output layer is none of them), or names."""

    epochs: Annotated[float, Field(gt=0)] = 1
    max_steps: Positive | None = None
    """Steps after which training ends, whatever `epochs` says."""
    batch_size: Positive = 128
    """Examples of one step, over all devices; packed sequences with `packing`."""
    device_batch_size: Positive = 4
    """Examples that one device computes at a time."""
    learning_rate: Annotated[float, Field(gt=0)] = 1e-4
    """At its peak."""
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    warmup: Share = 0.05
    """Share of the steps in which the rate rises."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.1
    adam_beta2: Annotated[float, Field(gt=0, lt=1)] = 0.95
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    seed: int = 42

    max_length: Positive = 2048
    """Tokens of prompt and answer together, and of a packed sequence."""
    too_long: Literal["leave_out", "refuse"] = "leave_out"
    """What becomes of longer examples: left out and counted, or an error. They are never cut."""
    packing: bool = False
    """Put several examples into one sequence; each attends to itself alone."""

    precision: Literal["auto", "bf16", "fp16", "no"] = "auto"
    """``auto``: bf16 on GPUs that have it, else fp16 on GPUs, else 32 bits."""
    gradient_checkpointing: bool = True
    attention: str | None = None
    """Transformers' name of the attention, as ``sdpa`` or ``flash_attention_2``; by default its choice."""

    eval_every: Annotated[float, Field(gt=0)] = 0.1
    """Steps between validations and checkpoints; below 1 a share of all steps."""
    eval_records: Annotated[int, Field(ge=0)] = 200
    """Validation records of each task that are answered; 0 validates by the loss alone."""
    eval_batch_size: Positive = 16
    eval_max_tokens: Positive | None = None
    """Tokens of a generated answer; by default twice the longest true answer, and 16 more."""
    patience: Annotated[int, Field(ge=0)] = 3
    """Validations without improvement after which training ends; 0: never."""
    keep_checkpoints: Positive = 2
    log_every: Positive = 10
    """Steps between two lines of the log."""
    tensorboard: bool = True

    @field_validator("precision", mode="before")
    @classmethod
    def _no_is_a_word(cls, value: Any) -> Any:
        # YAML 1.1 reads a bare `no` as false.
        return "no" if value is False else value

    @model_validator(mode="after")
    def _batches_fit(self) -> TrainConfig:
        if self.batch_size % self.device_batch_size:
            raise ValueError(
                f"batch_size={self.batch_size} is no multiple of device_batch_size={self.device_batch_size}"
            )
        return self


def read_config(file: Path | None = None, settings: Iterable[str] = (), **given: Any) -> TrainConfig:
    """Read a training's settings.

    Parameters
    ----------
    file : Path, optional
        A YAML mapping.
    settings : iterable of str
        ``key=value``, with values in YAML; they go before the file's.
    **given
        Settings that go before both; None says nothing.

    Raises
    ------
    TrainingError
        For what cannot be read, unknown names (with the nearest known one) and impossible values.
    """
    values = {} if file is None else _read_file(file)
    values |= dict(_read_setting(word) for word in settings)
    values |= {name: value for name, value in given.items() if value is not None}
    for name in values:
        if name not in TrainConfig.model_fields:
            hint = suggestion(name, TrainConfig.model_fields)
            raise TrainingError(f"there is no setting {name!r}", file=file, hint=hint)
    if "model" not in values:
        raise TrainingError("the base model is not named", file=file, hint="--model NAME_OR_FOLDER")
    try:
        return TrainConfig.model_validate(values)
    except ValidationError as error:
        raise TrainingError("; ".join(sentences(error, TrainConfig)), file=file) from error


def _read_file(file: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise TrainingError(f"the settings cannot be read: {error.strerror}", file=file) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise TrainingError(f"the file is not valid YAML: {error}", file=file) from error
    if not isinstance(values, dict | None):
        raise TrainingError("the file holds no mapping of settings", file=file)
    return {str(name): value for name, value in (values or {}).items()}


def _read_setting(word: str) -> tuple[str, Any]:
    name, equals, value = word.partition("=")
    if not equals or not name:
        raise TrainingError(f"{word!r} is no setting", hint="--set key=value, as in --set learning_rate=2e-4")
    try:
        return name, yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise TrainingError(f"the value of {name!r} is not valid YAML: {value}") from error
