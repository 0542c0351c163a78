"""Which tokens are learned: the answer's and its end, under any chat template."""

from __future__ import annotations

import os
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from hbench.core import Message, TrainingError
from hbench.train.chat import ChatEncoder, Encoded
from hbench.train.number_token_loss import IGNORED
from tests.train import tokenizers

SYSTEM = Message("system", "Answer with a number.")
USER = Message("user", "The household earned $2024?")
ANSWER = Message("assistant", "[358]")

TEMPLATES = {
    "chatml": (tokenizers.TEMPLATE, "[358]<|im_end|>"),
    # Llama 2's: no cue after the user's turn, the end token at the very end.
    "no cue": (
        "{% for m in messages %}{% if m['role'] == 'assistant' %}{{ ' ' + m['content'] + eos_token }}"
        "{% else %}{{ '[' + m['content'] + ']' }}{% endif %}{% endfor %}",
        " [358]<|im_end|>",
    ),
    # Qwen 3's: an empty reasoning stands before the last answer, and is part of what the model says.
    "reasoning": (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
        "{% if m['role'] == 'assistant' %}<think>\n\n</think>\n\n{% endif %}{{ m['content'] }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n"
        "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}",
        "<think>\n\n</think>\n\n[358]<|im_end|>",
    ),
    # Two special tokens end the turn; the first is the end of the answer.
    "two ends": (
        "{% for m in messages %}{{ m['content'] }}<|im_end|>\n<|pad|>\n{% endfor %}",
        "[358]<|im_end|>",
    ),
    # No end at all: the model would never learn to stop.
    "no end": ("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
               "{% if add_generation_prompt %}assistant: {% endif %}", "[358]\n<|im_end|>"),
    # Gemma's: system turns are refused.
    "no system": (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + tokenizers.TEMPLATE,
        "[358]<|im_end|>",
    ),
}  # fmt: skip


def _tokenizer(template: str | None) -> Any:
    tokenizer = tokenizers.single_digits()
    tokenizer.chat_template = template
    return tokenizer


def _encode(template: str, *turns: Message, **arguments: Any) -> tuple[Any, Encoded]:
    tokenizer = _tokenizer(template)
    (encoded,) = ChatEncoder(tokenizer, arguments=arguments).encode([turns or (SYSTEM, USER, ANSWER)])
    return tokenizer, encoded


@pytest.mark.parametrize("name", TEMPLATES)
def test_exactly_the_answer_and_its_end_are_learned(name: str) -> None:
    template, learned = TEMPLATES[name]
    tokenizer, encoded = _encode(template)
    # What follows the prompt, to the end token.
    assert tokenizer.decode(encoded.answer) == learned
    answered = [label != IGNORED for label in encoded.labels]
    first = answered.index(True)
    assert not any(answered[:first])
    assert all(answered[first:])
    assert encoded.input_ids[first:] == encoded.labels[first:]
    prompt = tokenizer.decode(encoded.input_ids[:first])
    assert SYSTEM.content in prompt
    assert USER.content in prompt
    assert ANSWER.content not in prompt


def test_what_is_learned_follows_the_prompt_that_is_asked() -> None:
    for template, _ in TEMPLATES.values():
        tokenizer = _tokenizer(template)
        encoder = ChatEncoder(tokenizer)
        ((_, asked),) = encoder.prompts([(SYSTEM, USER)])
        (encoded,) = encoder.encode([(SYSTEM, USER, ANSWER)])
        assert encoded.input_ids == [*asked, *encoded.answer]


def test_arguments_of_the_template_reach_the_prompt() -> None:
    tokenizer, encoded = _encode(TEMPLATES["reasoning"][0], enable_thinking=False)
    assert tokenizer.decode(encoded.answer) == "[358]<|im_end|>"


def test_earlier_answers_are_context() -> None:
    turns = (USER, Message("assistant", "[17]"), USER, ANSWER)
    tokenizer, encoded = _encode(tokenizers.TEMPLATE, *turns)
    assert tokenizer.decode(encoded.answer) == "[358]<|im_end|>"


def test_a_prompt_that_changes_is_refused() -> None:
    # The cue of some reasoning models, which the finished turn lacks.
    template = tokenizers.TEMPLATE.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")
    with pytest.raises(TrainingError, match="writes the prompt otherwise") as refused:
        _encode(template)
    assert "<think>" in str(refused.value)
    assert "chat_template_kwargs" in str(refused.value)


def test_an_answer_that_would_merge_with_the_prompt_is_begun_anew() -> None:
    # "household" is one token, but after the prompt's "the house" it has to be gone on with.
    tokenizer = _tokenizer(
        "{% for m in messages %}{{ m['content'] }}{% if m['role'] == 'user' %} the house{% endif %}{% endfor %}"
        "{% if not add_generation_prompt %}<|im_end|>{% endif %}"
    )
    whole = tokenizer("the household", add_special_tokens=False)["input_ids"]
    assert len(whole) == 2
    (encoded,) = ChatEncoder(tokenizer).encode([(USER, Message("assistant", "hold"))])
    assert tokenizer.decode(encoded.answer) == "hold<|im_end|>"
    assert tokenizer.decode(encoded.input_ids).endswith("$2024? the household<|im_end|>")


def test_conversations_without_an_answer_are_refused() -> None:
    with pytest.raises(TrainingError, match="record 0: it does not end with an answer"):
        _encode(tokenizers.TEMPLATE, SYSTEM, USER)


def test_a_tokenizer_without_a_template_is_refused() -> None:
    with pytest.raises(TrainingError, match="has no chat template"):
        ChatEncoder(_tokenizer(None))


@pytest.mark.lm
def test_the_prompt_is_the_one_that_the_evaluation_asks() -> None:
    from lm_eval.models.huggingface import HFLM
    from transformers import AutoTokenizer

    from hbench.model.generation import render_chat

    name = os.environ.get("HBENCH_TEST_LM")
    if not name:
        pytest.skip("no local model (set HBENCH_TEST_LM to its folder)")
    model = HFLM(pretrained=name, device="cpu")
    evaluated = model.tok_encode(render_chat(model, (SYSTEM, USER), chat=True, name="small"))
    tokenizer = AutoTokenizer.from_pretrained(name)
    encoder = ChatEncoder(tokenizer)
    ((_, asked),) = encoder.prompts([(SYSTEM, USER)])
    assert asked == evaluated
    (encoded,) = encoder.encode([(SYSTEM, USER, ANSWER)])
    assert tokenizer.decode(encoded.answer) == "[358]<|im_end|>"
