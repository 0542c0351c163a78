"""What the number-token loss costs, and what it brings.

    python benchmarks/number_token_loss.py                  # the loss beside cross-entropy, and in a training step
    python benchmarks/number_token_loss.py --model FOLDER   # a training step of a real model
    python benchmarks/number_token_loss.py --toy            # a copy-with-noise task, five seeds

The peer is cross-entropy alone, in the same run and with steps taken in turns; what counts is the processor's time. The
paper that HouseholdBench follows says that the loss adds about 1 % to a training. The toy task is to copy a number that
is seen through noise, digit by digit: a tiny transformer is trained from the same weights on the same batches with
cross-entropy and with the number-token loss beside it, and the numbers that it then writes are compared with the true
ones.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from hbench.train.digits import DigitTokens
from hbench.train.number_token_loss import IGNORED, NumberTokenLoss

WEIGHT = 0.3


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toy", action="store_true")
    parser.add_argument("--model", metavar="FOLDER", help="a model of transformers for the training step")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=600)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.toy:
        return toy(given.seeds, given.steps)
    alone(given.repeats)
    step(given.model, given.repeats)
    return 0


def in_turns(works: dict[str, Callable[[], None]], repeats: int) -> dict[str, float]:
    """Return the median seconds of processor time of each work, done in turns: the machine may be shared."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            began = time.process_time()
            work()
            if turn:
                seconds[name].append(time.process_time() - began)
    return {name: statistics.median(some) for name, some in seconds.items()}


def tell(found: dict[str, float]) -> None:
    """Print two times and what one adds to the other."""
    entropy, both = found["entropy"], found["both"]
    added = (both / entropy - 1) * 100
    print(f"  cross-entropy {entropy * 1e3:.1f} ms, with the number-token loss {both * 1e3:.1f} ms ({added:+.1f} %)")


def alone(repeats: int) -> None:
    """Measure the losses and their gradients, for the answers of a step of 128 examples."""
    vocabulary, answers = 49_152, 128 * 12
    digits = NumberTokenLoss(DigitTokens({100 + digit: digit for digit in range(10)}, {}))
    labels = torch.randint(100, 110, (answers,))
    labels[::4] = 7
    logits = torch.randn(answers, vocabulary, requires_grad=True)

    def entropy() -> None:
        logits.grad = None
        cross_entropy(logits, labels).backward()

    def both() -> None:
        logits.grad = None
        (cross_entropy(logits, labels) + WEIGHT * digits(logits, labels)).backward()

    found = in_turns({"entropy": entropy, "both": both}, repeats)
    print(f"losses and gradients of {answers:,} answer tokens, vocabulary {vocabulary:,}:")
    tell(found)


def step(folder: str | None, repeats: int) -> None:
    """Measure a whole step: forward, losses, backward; prompts of 500 tokens with answers of 12."""
    model, what = _model(folder)
    vocabulary = model.config.vocab_size
    digits = NumberTokenLoss(DigitTokens({100 + digit: digit for digit in range(10)}, {}))
    ids = torch.randint(vocabulary, (2, 512))
    labels = torch.full_like(ids, IGNORED)
    labels[:, -12:] = torch.randint(100, 110, (2, 12))
    places = torch.arange(499, 511)

    def run(weight: float | None) -> Callable[[], None]:
        def work() -> None:
            model.zero_grad()
            logits = model(input_ids=ids, use_cache=False, logits_to_keep=places).logits.flatten(0, 1).float()
            answers = labels[:, places + 1].flatten()
            loss = cross_entropy(logits, answers)
            if weight is not None:
                loss = loss + weight * digits(logits, answers)
            loss.backward()

        return work

    found = in_turns({"entropy": run(None), "both": run(WEIGHT)}, repeats)
    print(f"training step of {what}, 2 examples of 512 tokens with answers of 12:")
    tell(found)


def _model(folder: str | None) -> tuple[Any, str]:
    from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

    if folder is not None:
        return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), folder
    shape = {"hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 6, "num_attention_heads": 8}
    return LlamaForCausalLM(LlamaConfig(vocab_size=49_152, **shape)), "a random transformer of 6 layers of 256"


PLACES, NOISE = 3, 30
"""Digits of a number, and the standard deviation of the noise in what is to be learned."""
EQUALS, SIZE = 10, 11
TOY = DigitTokens({digit: digit for digit in range(10)}, {})


def batch(size: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return ids, labels and true numbers: "437=421", where 421 is 437 seen through noise."""
    seen = torch.randint(100, 900, (size,), generator=generator)
    true = (seen + NOISE * torch.randn(size, generator=generator)).round().long().clamp(0, 999)
    powers = 10 ** torch.arange(PLACES - 1, -1, -1)
    prompt = torch.cat([seen[:, None] // powers % 10, torch.full((size, 1), EQUALS)], dim=1)
    answer = true[:, None] // powers % 10
    ids = torch.cat([prompt, answer], dim=1)
    labels = torch.cat([torch.full_like(prompt, IGNORED), answer], dim=1)
    return ids, labels, true


def toy(seeds: int, steps: int) -> int:
    """Train with and without the number-token loss at equal steps; report errors of greedy and of drawn numbers."""
    losses = NumberTokenLoss(TOY)
    rows = []
    for seed in range(seeds):
        errors = {weight: _toy_run(weight, seed, steps, losses) for weight in (0.0, WEIGHT)}
        rows.append(errors)
        told = "; ".join(
            f"weight {weight}: greedy {greedy:.2f}, drawn {drawn:.2f}" for weight, (greedy, drawn) in errors.items()
        )
        print(f"seed {seed}: mean absolute error {told}", flush=True)
    for place, how in enumerate(("greedy", "drawn")):
        without, with_it = ([row[weight][place] for row in rows] for weight in (0.0, WEIGHT))
        lower = sum(b < a for a, b in zip(without, with_it, strict=True))
        change = (statistics.fmean(with_it) / statistics.fmean(without) - 1) * 100
        print(
            f"{how}: cross-entropy {statistics.fmean(without):.2f}, with the number-token loss "
            f"{statistics.fmean(with_it):.2f} ({change:+.1f} %), lower in {lower} of {seeds} seeds"
        )
    print(f"a perfect copy has {_floor():.2f}: the noise alone")
    return 0


def _toy_run(weight: float, seed: int, steps: int, losses: NumberTokenLoss) -> tuple[float, float]:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=SIZE, bos_token_id=None, eos_token_id=None, **shape))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    generator = torch.Generator().manual_seed(1_000 + seed)
    for _ in range(steps):
        ids, labels, _ = batch(64, generator)
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1].flatten(0, 1)
        answers = labels[:, 1:].flatten()
        loss = cross_entropy(logits, answers, ignore_index=IGNORED)
        if weight:
            loss = loss + weight * losses(logits, answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    ids, _, true = batch(2_000, torch.Generator().manual_seed(99))
    return _error(model, ids, true, draw=False), _error(model, ids, true, draw=True)


@torch.no_grad()
def _error(model: Any, ids: torch.Tensor, true: torch.Tensor, *, draw: bool) -> float:
    """Return the mean absolute error of the numbers that the model writes; a token that is no digit counts as 5."""
    generator = torch.Generator().manual_seed(7)
    written = ids[:, : PLACES + 1]
    number = torch.zeros(len(ids), dtype=torch.long)
    for _ in range(PLACES):
        logits = model(input_ids=written, use_cache=False).logits[:, -1]
        chosen = torch.multinomial(logits.softmax(-1), 1, generator=generator) if draw else logits.argmax(-1, True)
        written = torch.cat([written, chosen], dim=1)
        digit = chosen[:, 0]
        number = 10 * number + digit.where(digit < 10, torch.tensor(5))
    return (number - true).abs().float().mean().item()


def _floor() -> float:
    ids, _, true = batch(2_000, torch.Generator().manual_seed(99))
    powers = 10 ** torch.arange(PLACES - 1, -1, -1)
    return ((ids[:, :PLACES] * powers).sum(1) - true).abs().float().mean().item()


if __name__ == "__main__":
    raise SystemExit(main())
