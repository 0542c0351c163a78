"""Answers of a model in training, to validate it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hbench.model.thinking import begins_thinking, split_thinking
from hbench.train.chat import ChatEncoder
from hbench.train.packages import need


def answer(
    model: Any,
    encoder: ChatEncoder,
    prompts: Sequence[tuple[str, list[int]]],
    *,
    max_tokens: int,
    batch_size: int,
    seed: int | None = None,
) -> list[str]:
    """Generate an answer to each prompt.

    Parameters
    ----------
    model
        A causal language model of transformers, as it is: on its device, in evaluation mode.
    encoder : ChatEncoder
        Knows the tokens and what ends an answer.
    prompts : sequence of (str, list of int)
        Texts and ids, as `ChatEncoder.prompts` yields them.
    max_tokens : int
        Of an answer.
    batch_size : int
        Prompts that are answered together.
    seed : int, optional
        Draw from the model's distribution with this seed, leaving torch's random state as it was; without it the most
        probable token is taken each time.
    """
    import torch

    pad = encoder.tokenizer.pad_token_id
    pad = encoder.tokenizer.eos_token_id if pad is None else pad
    config = need("transformers").GenerationConfig(
        **({"do_sample": False} if seed is None else {"do_sample": True, "temperature": 1.0, "top_k": 0}),
        max_new_tokens=max_tokens,
        eos_token_id=sorted(encoder.ends),
        pad_token_id=pad,
    )
    answers = [""] * len(prompts)
    # Prompts of like length need little padding.
    order = sorted(range(len(prompts)), key=lambda place: (-len(prompts[place][1]), place))
    with torch.random.fork_rng(enabled=seed is not None), torch.no_grad():
        if seed is not None:
            torch.manual_seed(seed)
        for start in range(0, len(order), batch_size):
            places = order[start : start + batch_size]
            ids, mask = _padded([prompts[place][1] for place in places], pad, model.device)
            written = model.generate(input_ids=ids, attention_mask=mask, generation_config=config)
            texts = encoder.tokenizer.batch_decode(written[:, ids.shape[1] :], skip_special_tokens=True)
            for place, text in zip(places, texts, strict=True):
                answers[place] = split_thinking(text, begun=begins_thinking(prompts[place][0]))[0]
    return answers


def _padded(rows: Sequence[list[int]], pad: int, device: Any) -> tuple[Any, Any]:
    """Pad on the left, so that all prompts end where generation begins."""
    import torch

    width = max(map(len, rows))
    ids = torch.full((len(rows), width), pad)
    mask = torch.zeros_like(ids)
    for row, values in enumerate(rows):
        ids[row, width - len(values) :] = torch.tensor(values)
        mask[row, width - len(values) :] = 1
    return ids.to(device), mask.to(device)
