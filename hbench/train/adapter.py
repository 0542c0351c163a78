"""A low-rank adapter: its settings, its folder, and a base model with the adapter merged into it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hbench.core import TrainingError
from hbench.core.errors import first_line
from hbench.data.files import atomic_folder
from hbench.train.config import TrainConfig
from hbench.train.packages import need

_CONFIG = "adapter_config.json"


def lora_config(config: TrainConfig) -> Any:
    """Return peft's settings of the adapter."""
    modules = config.lora_modules
    return need("peft").LoraConfig(
        task_type="CAUSAL_LM",
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=config.lora_dropout,
        target_modules=modules if modules == "all-linear" else [modules] if isinstance(modules, str) else list(modules),
    )


def save_adapter(model: Any, folder: Path) -> None:
    """Write an adapter in peft's format; equal adapters give equal bytes."""
    with atomic_folder(folder) as temporary:
        model.save_pretrained(temporary)
        (temporary / "README.md").unlink(missing_ok=True)
        file = temporary / _CONFIG
        settings = json.loads(file.read_text(encoding="utf-8"))
        # Sets of names, which peft writes in any order.
        for name in ("target_modules", "modules_to_save"):
            if isinstance(settings.get(name), list):
                settings[name] = sorted(settings[name])
        file.write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def merge(base: str, adapter: Path, out: Path, *, revision: str | None = None) -> Path:
    """Write a base model with an adapter merged into its weights, and the base's tokenizer beside it.

    Parameters
    ----------
    base : str
        Folder, or name on the Hugging Face hub.
    adapter : Path
        Folder of an adapter in peft's format.
    out : Path
        New folder; it is whole or not there.
    revision : str, optional
        Of the base model on the hub.

    Raises
    ------
    TrainingError
        Where `out` is there already, the adapter is none, or does not fit the base model.
    """
    transformers, peft = need("transformers"), need("peft")
    if out.exists():
        raise TrainingError("the folder is there already", file=out, hint="Name a new one with --out.")
    if not (adapter / _CONFIG).is_file():
        raise TrainingError(f"the folder holds no adapter ({_CONFIG})", file=adapter)
    name = str(Path(base).expanduser()) if Path(base).expanduser().is_dir() else base
    try:
        # In the base model's own precision: the merged model is then as large as the base model.
        model = transformers.AutoModelForCausalLM.from_pretrained(name, revision=revision or "main", dtype="auto")
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, revision=revision or "main")
        merged = peft.PeftModel.from_pretrained(model, str(adapter)).merge_and_unload(safe_merge=True)
    # As in `hbench.train.base_model`.
    except Exception as error:
        raise TrainingError(
            f"{name} and its adapter cannot be merged: {type(error).__name__}: {first_line(error)}", file=adapter
        ) from error
    with atomic_folder(out) as temporary:
        merged.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
    return out
