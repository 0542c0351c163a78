"""Generation settings that a family of models is run with where the user names none.

The table is short and declared; a plugin adds a row by registering a `Family` under kind ``family``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import JsonValue, ModelError
from hbench.plugin.registry import BUILTIN

if TYPE_CHECKING:
    from hbench.model.spec import ModelSpec
    from hbench.plugin import Registry

_NAMED_BY = ("pretrained", "model", "served_model_name")
"""Options that name the model where the argument does not."""


@dataclass(frozen=True, slots=True)
class Family:
    """Models that share generation settings.

    Attributes
    ----------
    pattern : str
        Regular expression, looked for in the model's name in any case.
    settings : mapping
        Names of `hbench.core.Sampling` with their values.
    source : str
        Where the settings are from.
    thinking : bool or None
        Only with thinking asked for or left as it is (True), only with thinking switched off (False), or either.
    back_ends : tuple of str
        Only behind these back ends; empty: behind all.
    """

    pattern: str
    settings: Mapping[str, JsonValue]
    source: str
    thinking: bool | None = None
    back_ends: tuple[str, ...] = ()

    def holds(self, back_end: str, names: str, *, thinking: bool) -> bool:
        """Say whether a model is one of the family."""
        return (
            (not self.back_ends or back_end in self.back_ends)
            and self.thinking in (None, thinking)
            and re.search(self.pattern, names, re.IGNORECASE) is not None
        )


_QWEN_CARD = "HouseholdBench paper, section on models: the recommended non-thinking settings"
_PRESETS = "BehaviorBench's presets for local models"

QWEN3 = Family(
    r"qwen-?3(?!.*-instruct-2507)", {"temperature": 0.6, "top_p": 0.95, "top_k": 20}, _PRESETS, thinking=True
)
QWEN3_NON_THINKING = Family(
    r"qwen-?3(?!.*-instruct-2507)", {"temperature": 0.7, "top_p": 0.8, "top_k": 20}, _QWEN_CARD, thinking=False
)
QWEN3_INSTRUCT = Family(
    r"qwen-?3.*-instruct-2507", {"temperature": 0.7, "top_p": 0.8, "top_k": 20}, "as Qwen 3 without thinking"
)
QWEN2_5 = Family(r"qwen-?2\.5", {"temperature": 0.7, "top_p": 0.8, "top_k": 20}, _PRESETS)
LLAMA3 = Family(r"llama-?3", {"temperature": 0.6, "top_p": 0.9}, _PRESETS)
DEEPSEEK = Family(
    r"deepseek", {"reasoning_effort": "medium"}, "HouseholdBench paper, section on models", back_ends=("openai",)
)


def find_family(spec: ModelSpec, registry: Registry) -> tuple[str, Family] | None:
    """Return the family of a model with its registered name; None where there is none or ``family=off`` is said.

    Other plugins' families go before the built-in ones.

    Raises
    ------
    ModelError
        Where two families of equal standing hold the model, or `family` is no text.
    """
    chosen = spec.options.get("family")
    if chosen == "off":
        return None
    if chosen is not None:
        if not isinstance(chosen, str):
            raise ModelError(f"model {spec.label}: the option family={chosen!r} must be a family's name, or off")
        family: Family = registry.get("family", chosen)
        return chosen, family
    names, thinking = _names(spec), _thinks(spec)
    held: list[tuple[str, str, Family]] = []
    for info in registry.names("family"):
        family = registry.get("family", info.qualified)
        if family.holds(spec.name, names, thinking=thinking):
            held.append((info.suite, info.qualified, family))
    held = [one for one in held if one[0] != BUILTIN] or held
    if len(held) > 1:
        raise ModelError(
            f"model {spec.label} belongs to {' and '.join(name for _, name, _ in held)}",
            hint=f"Say which settings hold, as in family={held[0][1]}, or family=off.",
        )
    return (held[0][1], held[0][2]) if held else None


def _names(spec: ModelSpec) -> str:
    """Return what tells of a model's family: its name, and what its folder says of it."""
    told = [spec.argument, *(str(spec.options[name]) for name in _NAMED_BY if name in spec.options)]
    for name in tuple(told):
        config = Path(name).expanduser() / "config.json"
        if name and config.is_file():
            try:
                about = json.loads(config.read_text(encoding="utf-8"))
            except ValueError as error:
                raise ModelError("the model's config.json is not JSON", file=config) from error
            told += [str(about.get("model_type", "")), str(about.get("_name_or_path", ""))]
    return "\n".join(told)


def _thinks(spec: ModelSpec) -> bool:
    """Say whether thinking is left on; templates that know the switch think by default."""
    extra = spec.sampling.extra
    for given in (spec.options, spec.options.get("chat_template_kwargs"), extra, extra.get("chat_template_kwargs")):
        if isinstance(given, Mapping) and isinstance(given.get("enable_thinking"), bool):
            return bool(given["enable_thinking"])
    return True
