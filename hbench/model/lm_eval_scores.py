"""What loaded models of lm-eval tell of texts: how long they are, and how likely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hbench.core import Failure
from hbench.model.likelihood import Likelihoods


def count_tokens(model: Any, text: Any) -> int | None:
    """Return a text's number of tokens; None where the model has no tokenizer here."""
    encode = getattr(model, "tok_encode", None)
    # API types tokenise only where they were given a tokenizer.
    if encode is None or not isinstance(text, str) or getattr(model, "tokenizer", None) is None:
        return None
    return len(encode(text))


def excess_tokens(model: Any, tokens: int | None, new: int) -> int:
    """Return how many tokens of prompt and answer do not fit, as far as that is known; negative: the room left."""
    room = getattr(model, "max_length", None)
    return 0 if tokens is None or not isinstance(room, int) else tokens + new - room


def score(model: Any, prompts: Sequence[Any], continuations: Sequence[Sequence[str]]) -> list[Likelihoods | Failure]:
    """Score each prompt's continuations; a prompt that does not fit with them is a failure, and not cut."""
    from lm_eval.api.instance import Instance

    tokens = [count_tokens(model, prompt) for prompt in prompts]
    found: list[Failure | None] = []
    instances: list[Any] = []
    for prompt, own, texts in zip(prompts, tokens, continuations, strict=True):
        longest = max(count_tokens(model, text) or 0 for text in texts)
        if (excess := excess_tokens(model, own, longest)) > 0:
            detail = f"{own} tokens and {longest} to score are {excess} too many"
            found.append(Failure("request", "context_too_long", detail))
            continue
        found.append(None)
        instances += [Instance("loglikelihood", {}, (prompt, text), len(instances)) for text in texts]
    logs = iter(model.loglikelihood(instances, disable_tqdm=True) if instances else ())
    return [
        Likelihoods(tuple(float(next(logs)[0]) for _ in texts), own) if failure is None else failure
        for failure, texts, own in zip(found, continuations, tokens, strict=True)
    ]
