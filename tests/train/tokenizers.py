"""Small tokenizers of the kinds that matter for numbers, trained on the spot."""

from __future__ import annotations

import random
from typing import Any

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|pad|>", "<|im_start|>", "<|im_end|>"]


def corpus() -> list[str]:
    """Sentences with numbers, the common ones often enough to become tokens of their own."""
    rng = random.Random(0)
    numbers = [17, 2024, 358, 123, 100, 250, 75]
    return [
        f"In {rng.choice(numbers)} the household earned ${rng.choice(numbers)} and paid [{rng.choice(numbers)}] of it, "
        f"{rng.choice(numbers)}% or {rng.randrange(10_000)} in all."
        for _ in range(500)
    ]


def wrap(tokenizer: Any, template: str | None = TEMPLATE) -> Any:
    """Return a tokenizer as transformers has it."""
    from transformers import PreTrainedTokenizerFast

    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<|pad|>", eos_token="<|im_end|>")
    wrapped.chat_template = template
    return wrapped


def byte_level(split: str | None) -> Any:
    """Return byte-level BPE, as GPT-2, Llama 3 and Qwen have it; the text is split by a pattern (None: GPT-2's)."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    parts = [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split is None)]
    if split is not None:
        parts.insert(0, pre_tokenizers.Split(Regex(split), "isolated"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        corpus(),
        trainers.BpeTrainer(
            vocab_size=600,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            special_tokens=SPECIAL,
            show_progress=False,
        ),
    )
    return wrap(tokenizer)


def single_digits() -> Any:
    """Return a tokenizer as Qwen's: digits stand alone."""
    return byte_level(r"\p{N}| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+")


def gpt2() -> Any:
    """Return a tokenizer as GPT-2's: common numbers are one token."""
    return byte_level(None)


def three_digits() -> Any:
    """Return a tokenizer as Llama 3's: up to three digits a token."""
    return byte_level(r"\p{N}{1,3}| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+")


def words(digits: str = "0123456789") -> Any:
    """Return a tokenizer of single characters and of digits after a blank, as SentencePiece writes them."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    characters = [*digits, *(f"▁{digit}" for digit in digits), *"▁abcdefghijklmnopqrstuvwxyzIT[],.$%-", "<unk>"]
    vocabulary = {token: index for index, token in enumerate([*SPECIAL, *characters])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(prepend_scheme="never"), pre_tokenizers.Split(Regex("▁[0-9]|."), "isolated")]
    )
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="never")
    return wrap(tokenizer)
