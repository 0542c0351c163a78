"""From hbench's requests to lm-eval's: templates, generation settings, seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core import JsonValue, Message, ModelError, Request, stable_seed
from hbench.model.adapters import merge_system

MAX_TOKENS = 1024
"""New tokens where the sampling does not say. Servers go on to the end of the context; a local loop had better not."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One generation, and the draws that it serves."""

    request: Request
    numbers: tuple[int, ...]


def gen_kwargs(model: Any, draw: Draw, *, seed: int) -> dict[str, JsonValue]:
    """Translate the sampling.

    Where no temperature is given the model's own generation settings hold, as they do for a server that is started on
    the same folder, and temperature 1 where it has none. lm-eval would decode greedily, which makes all draws alike.
    """
    sampling = draw.request.sampling
    if sampling.reasoning_effort is not None:
        raise ModelError(
            "lm-eval's models have no reasoning_effort", hint="use extra={...} for arguments of the generation"
        )
    own = _own_settings(model) if sampling.temperature is None else {}
    temperature = own.get("temperature", 1.0) if sampling.temperature is None else sampling.temperature
    settings: dict[str, JsonValue] = {
        "until": list(sampling.stop),
        "max_gen_toks": MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens,
        "do_sample": temperature > 0,
        "temperature": temperature,
    }
    if temperature > 0:
        for name in ("top_p", "top_k", "min_p"):
            value = getattr(sampling, name)
            value = own.get(name) if value is None else value
            if value is not None:
                settings[name] = value
    if takes_seeds(model):
        # Their own seed is a constant, which would make every draw the same.
        settings["seed"] = draw_seed(seed, draw)
    return settings | dict(sampling.extra)


def takes_seeds(model: Any) -> bool:
    """Say whether a back end takes a seed with every request; the others have one random stream for all."""
    return bool({base.__name__ for base in type(model).__mro__} & {"TemplateAPI", "VLLM"})


def draw_seed(seed: int, draw: Draw) -> int:
    """Return the seed of one draw: named by what its answer depends on, never by what is generated beside it.

    Parameters
    ----------
    seed : int
        The evaluation's, which the sampling's own replaces.
    draw : Draw
        The draw.
    """
    request = draw.request
    given = seed if request.sampling.seed is None else request.sampling.seed
    prompt = (f"{message.role}: {message.content}" for message in request.messages)
    return stable_seed(given, "generation", *prompt, str(request.occurrence), str(draw.numbers[0])) % 2**31


def render_chat(model: Any, messages: Sequence[Message], *, chat: bool, name: str) -> Any:
    """Render a prompt through the model's own chat template.

    A template that refuses system turns, or drops them without a word, gets them at the head of the first user turn.
    """
    if not chat:
        return "\n\n".join(message.content for message in messages)
    # lm-eval drops system turns itself when a template raises, so what counts is whether the text arrived.
    rendered = _apply(model, messages, name)
    if isinstance(rendered, str) and not all(message.content.strip() in rendered for message in messages):
        rendered = _apply(model, merge_system(messages), name)
        if not all(message.content.strip() in rendered for message in messages):
            raise ModelError(f"model {name}: its chat template loses part of the prompt", hint="try chat_template=off")
    return rendered


def _apply(model: Any, messages: Sequence[Message], name: str) -> Any:
    try:
        return model.apply_chat_template([message._asdict() for message in messages])
    # Templates are programs of strangers; whatever they raise means the same.
    except Exception as error:
        raise ModelError(
            f"model {name} has no usable chat template: {type(error).__name__}: {str(error).splitlines()[:1]}",
            hint="a base model takes plain text: chat_template=off",
        ) from error


def _own_settings(model: Any) -> dict[str, float]:
    """Return temperature, top_p, top_k and min_p that the model's makers chose, where they did."""
    config = getattr(getattr(model, "model", None), "generation_config", None)
    differing = config.to_diff_dict() if config is not None and hasattr(config, "to_diff_dict") else {}
    names = ("temperature", "top_p", "top_k", "min_p")
    return {name: differing[name] for name in names if isinstance(differing.get(name), int | float)}
