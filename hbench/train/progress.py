"""What a training says while it runs."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hbench.prompt.formats import plural
from hbench.train.packages import need
from hbench.train.tokens import TokenCounts
from hbench.train.validation import TaskScore

Say = Callable[[str], None]
"""Shows a line."""


def tell_counts(counts: Mapping[str, TokenCounts], max_length: int) -> list[str]:
    """Return lines on the examples of each task, and on those that are left out."""
    total = sum(count.examples for count in counts.values())
    tokens = sum(count.tokens for count in counts.values())
    learned = sum(count.learned for count in counts.values())
    examples = f"{plural(total, 'example')} of {plural(len(counts), 'task')}"
    lines = [f"{examples}, {tokens:,} tokens, of which {learned:,} are learned"]
    for task, count in counts.items():
        if count.too_long:
            named = ", ".join(count.too_long_ids) + (", ..." if count.too_long > len(count.too_long_ids) else "")
            lines.append(
                f"{task}: {count.too_long:,} examples have more than {max_length:,} tokens and are left out: {named}"
            )
    return lines


def tell_scores(
    step: int, scores: Mapping[str, TaskScore], before: Mapping[str, TaskScore], relative: float
) -> list[str]:
    """Return lines on a validation."""
    lines = [f"step {step}: loss relative to before training {relative:.3f}"] if step else ["before training:"]
    for task, score in scores.items():
        change = f"{before[task].strict:.4f} -> {score.strict:.4f}" if step else f"{score.strict:.4f}"
        lines.append(f"  {task}: {score.metric} {change} (strict), {score.valid} of {score.n} valid")
    return lines


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries' bars and their talk of each other's deprecated words to themselves."""
    levels = need("transformers.utils.logging")
    before = levels.get_verbosity()
    levels.set_verbosity_error()
    levels.disable_progress_bar()
    need("datasets").disable_progress_bars()
    # TRL warns of settings that hbench chooses on purpose.
    logging.getLogger("trl").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        levels.set_verbosity(before)


def progress_callback(say: Say, before: Callable[[float], None]) -> Any:
    """Return a callback for transformers' trainer that says a line at every log and hands on the base model's loss."""
    base: Any = need("transformers").TrainerCallback

    def on_log(self: Any, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if state.is_world_process_zero and logs and "loss" in logs:
            parts = [f"{name.replace('_', ' ')} {logs[name]:.4f}" for name in _SHOWN if name in logs]
            say(f"step {state.global_step} of {state.max_steps}: {', '.join(parts)}, rate {logs['learning_rate']:.2e}")

    def on_evaluate(self: Any, args: Any, state: Any, control: Any, metrics: Any = None, **kwargs: Any) -> None:
        if state.global_step == 0:
            before(metrics["eval_loss"])

    return type("Progress", (base,), {"on_log": on_log, "on_evaluate": on_evaluate})()


_SHOWN = ("loss", "cross_entropy", "number_token_loss")
