"""What can be said of a model that vLLM runs, and what of it is the model's identity."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hbench.core import JsonValue, ModelError
from hbench.model.options import Options
from hbench.model.spec import PLUMBING
from hbench.model.weights import folder_fingerprint

_FOLDERS = ("tokenizer", "hf_config_path")
"""vLLM's arguments whose value may be a folder: its content is the identity, not its name."""
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks of adapters that vLLM has room for."""


@dataclass(frozen=True)
class VllmWords:
    """A model for vLLM.

    Attributes
    ----------
    name : str
        The model as the user named it.
    model : str
        Folder, or name on a hub.
    lora : Path or None
        Folder of an adapter in peft's format.
    chat : bool
        Whether prompts pass through the chat template.
    template : mapping
        Further arguments of the chat template, as ``enable_thinking``.
    reasoning_parser : str or None
        vLLM's name of the reader that tells reasoning from answer; None: ``<think>`` tags.
    arguments : mapping
        Of vLLM's engine.
    """

    name: str
    model: str
    lora: Path | None = None
    chat: bool = True
    template: Mapping[str, JsonValue] = field(default_factory=dict)
    reasoning_parser: str | None = None
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def identity(self) -> dict[str, JsonValue]:
        """All that changes answers: folders by their content, no parallelism, no memory."""
        settings = {key: value for key, value in self.arguments.items() if key not in PLUMBING}
        for key in _FOLDERS:
            if isinstance(value := settings.get(key), str):
                settings[key] = _content(value)
        return {
            "back_end": "vllm",
            "model": _content(self.model),
            "settings": settings,
            "chat_template": self.chat,
            **({"chat_template_kwargs": dict(self.template)} if self.template else {}),
            **({"lora": _content(str(self.lora))} if self.lora else {}),
            **({"reasoning_parser": self.reasoning_parser} if self.reasoning_parser else {}),
        }

    def lora_rank(self) -> int:
        """Return the room that the adapter needs.

        Raises
        ------
        ModelError
            Where the folder holds no adapter.
        """
        assert self.lora is not None  # noqa: S101 - asked only where there is one
        config = self.lora / "adapter_config.json"
        try:
            rank = json.loads(config.read_text(encoding="utf-8"))["r"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"model {self.name}: the adapter has no readable adapter_config.json with a rank r", file=config
            ) from error
        return next((room for room in _RANKS if rank <= room), int(rank))


def read_words(back_end: str, argument: str, read: Options) -> VllmWords:
    """Read what the offline engine and the server have in common; what is left are arguments of vLLM's.

    Raises
    ------
    ModelError
        Without a model, or for a folder that is not there.
    """
    name = f"{back_end}:{argument}"
    if not argument:
        raise ModelError(f"model {back_end}: which one? Write {back_end}:NAME or {back_end}:FOLDER")
    lora = read.text("lora")
    template = read.mapping("chat_template_kwargs")
    thinking = read.switch("enable_thinking")
    chat = read.choice("chat_template", "on", ("on", "off")) == "on"
    parser = read.text("reasoning_parser")
    return VllmWords(
        name,
        _place(argument),
        lora=None if lora is None else Path(_place(lora, must_be_there=True)),
        chat=chat,
        template={**template, **({} if thinking is None else {"enable_thinking": thinking})},
        reasoning_parser=parser,
        arguments=read.rest(),
    )


def _place(name: str, *, must_be_there: bool = False) -> str:
    """Return an absolute path where a folder is meant, else the name on a hub."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return str(folder.absolute())
    if must_be_there or name.startswith((".", "/", "~")):
        raise ModelError("there is no such model folder", file=name)
    return name


def _content(name: str) -> str:
    return f"sha256:{folder_fingerprint(Path(name))}" if Path(name).is_dir() else name
