"""The base model and its tokenizer, as they are trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from hbench.core import JsonValue, TrainingError
from hbench.core.errors import first_line
from hbench.model.weights import folder_fingerprint
from hbench.train.config import TrainConfig
from hbench.train.packages import need

Precision = Literal["bf16", "fp16", "no"]


def base_identity(config: TrainConfig) -> dict[str, JsonValue]:
    """Return what the base model is: a folder by its content, else name and revision on the hub.

    Raises
    ------
    TrainingError
        There is no such folder.
    """
    folder = Path(config.model).expanduser()
    if folder.is_dir():
        return {"folder": f"sha256:{folder_fingerprint(folder)}"}
    if config.model.startswith((".", "/", "~")):
        raise TrainingError("there is no such model folder", file=config.model)
    return {"name": config.model, "revision": config.revision}


def load_tokenizer(config: TrainConfig) -> Any:
    """Load the tokenizer, with the chat template that the settings name."""
    tokenizer = _load("AutoTokenizer", config)
    if config.chat_template is not None:
        try:
            tokenizer.chat_template = config.chat_template.read_text(encoding="utf-8")
        except OSError as error:
            raise TrainingError(
                f"the chat template cannot be read: {error.strerror}", file=config.chat_template
            ) from error
    return tokenizer


def model_ends(config: TrainConfig) -> tuple[int, ...]:
    """Return the ids that end an answer of the model, by its generation settings; it may have none."""
    try:
        generation = _load("GenerationConfig", config)
    except TrainingError:
        return ()
    ends = generation.eos_token_id
    return tuple(ends) if isinstance(ends, list | tuple) else () if ends is None else (ends,)


def load_model(config: TrainConfig, precision: Precision) -> Any:
    """Load the model in the precision that it is trained in; no code from its folder is run."""
    torch = need("torch")
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "no": torch.float32}[precision]
    attention = {} if config.attention is None else {"attn_implementation": config.attention}
    return _load("AutoModelForCausalLM", config, dtype=dtype, **attention)


def precision_of(config: TrainConfig) -> Precision:
    """Return the precision that `config` comes to on this machine.

    Raises
    ------
    TrainingError
        Where the machine cannot compute in it.
    """
    torch = need("torch")
    on_gpu = torch.cuda.is_available()
    if config.precision == "auto":
        return "no" if not on_gpu else "bf16" if torch.cuda.is_bf16_supported() else "fp16"
    if config.precision == "fp16" and not on_gpu:
        raise TrainingError("fp16 needs a GPU", hint="Without one, train with --set precision=bf16 or precision=no.")
    if config.precision == "bf16" and on_gpu and not torch.cuda.is_bf16_supported():
        raise TrainingError("this GPU does not compute in bf16", hint="--set precision=fp16")
    return config.precision


def _load(kind: str, config: TrainConfig, **arguments: Any) -> Any:
    folder = Path(config.model).expanduser()
    name = str(folder) if folder.is_dir() else config.model
    try:
        return getattr(need("transformers"), kind).from_pretrained(
            name, revision=config.revision or "main", **arguments
        )
    # Libraries raise what they like: absent files, no network, shapes that do not fit.
    except Exception as error:
        raise TrainingError(
            f"{name} cannot be loaded: {type(error).__name__}: {first_line(error)}",
            hint="A base model is a folder with config.json, tokenizer and weights, or a name on the Hugging Face hub.",
        ) from error
