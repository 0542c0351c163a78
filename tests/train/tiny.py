"""A tiny model, a tiny task, and a tiny set of examples."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.train import tokenizers

TASK = """
task: spend
suite: tiny
topic: consumption
source: none
key: {id: id, time: time}
targets:
  - {name: amount, kind: numeric, no_change: lag1}
prompt: {paragraphs: ["How much?"]}
answer: {parser: json_array}
metrics: [relmae, nmae]
"""
FAST = {
    "batch_size": 4, "device_batch_size": 2, "max_length": 256, "learning_rate": 1e-2, "gradient_checkpointing": False,
    "eval_records": 4, "eval_every": 4, "max_steps": 8, "log_every": 1, "precision": "no", "warmup": 0,
    "lora_dropout": 0,
}  # fmt: skip
"""Settings for a few steps."""


def base(folder: Path) -> Path:
    """Write a random model of two layers with a tokenizer of single digits."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = tokenizers.single_digits()
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            # Logits of a frozen output layer must be able to grow, or nothing is learned.
            initializer_range=0.4,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def examples(folder: Path, *, train: int = 40, validation: int = 6, answer: str | None = None) -> Path:
    """Write a set whose answers repeat the number of the prompt, and the task beside it."""
    rng = random.Random(0)
    (folder / "tasks").mkdir(parents=True)
    (folder / "tasks" / "spend.yaml").write_text(TASK)
    held = folder / "records" / "tiny" / "spend"
    held.mkdir(parents=True)
    with (held / "validation.jsonl").open("w") as records:
        for split, count in (("train", train), ("validation", validation)):
            with (folder / f"{split}.jsonl").open("w") as stream:
                for i in range(count):
                    number = rng.randrange(10, 100)
                    turns = [("system", "Answer with a number."), ("user", f"In {number} the household earned?")]
                    told = answer or f"[{number}]"
                    messages = [{"role": role, "content": text} for role, text in (*turns, ("assistant", told))]
                    name = f"{split}-{i}"
                    stream.write(json.dumps({"messages": messages, "task": "tiny/spend", "id": name}) + "\n")
                    if split == "validation":
                        row = {"id": name, "system": turns[0][1], "user": turns[1][1], "assistant": told}
                        records.write(json.dumps(row | {"naive_baseline": "[50]"}) + "\n")
    return folder
