"""What a run would ask and cost, without asking."""

from __future__ import annotations

from hbench.model import ModelSpec
from hbench.run.evaluate import JOURNAL, Job
from hbench.run.execute import missing
from hbench.run.journal import Journal

CHARACTERS_PER_TOKEN = 4


def forecast(job: Job) -> str:
    """Count the requests that the run would send now, their prompts' tokens and their cost.

    Tokens are characters divided by four. The cost needs the model's prices (``price_in=``, ``price_out=``, in US
    dollars per million tokens); answers count with ``max_tokens``, their most, where it is given.
    """
    path = job.path / JOURNAL
    # An absent journal is not made: a dry run leaves no trace.
    journal = Journal(path) if path.exists() else None
    lines = [f"{len(job.plan.tasks)} tasks, {len(job.models)} models, run folder {job.path}"]
    lines += [f"left out, {one.reason}: {one.task}" for one in job.plan.left_out]
    try:
        for (entrant, _), words in zip(job.models, job.specs, strict=True):
            lines.append(f"{entrant.label}:")
            total = tokens = 0
            for planned in job.plan.tasks:
                reason = entrant.unsupported.get(planned.name)
                if reason is not None:
                    lines.append(f"  {planned.name}: not for this model: {reason}")
                    continue
                draws = characters = 0
                for request in missing(planned, entrant, journal):
                    draws += len(request.draws)
                    characters += len(request.draws) * sum(len(message.content) for message in request.messages)
                total += draws
                tokens += characters // CHARACTERS_PER_TOKEN
                lines.append(
                    f"  {planned.name}: {draws:,} requests, about {characters // CHARACTERS_PER_TOKEN:,} prompt tokens "
                    f"({', '.join(planned.splits)})"
                )
            lines.append(f"  in all: {total:,} requests, about {tokens:,} prompt tokens{_cost(words, total, tokens)}")
    finally:
        if journal is not None:
            journal.close()
    lines.append(f"Tokens are estimated as characters / {CHARACTERS_PER_TOKEN}; nothing was asked.")
    return "\n".join(lines)


def _cost(words: str, requests: int, tokens: int) -> str:
    options = ModelSpec.parse(words)
    price_in, price_out = options.options.get("price_in"), options.options.get("price_out")
    if not isinstance(price_in, int | float):
        return ""
    cost = tokens * price_in / 1e6
    most = options.sampling.max_tokens
    if isinstance(price_out, int | float) and most is not None:
        return f", at most about ${cost + requests * most * price_out / 1e6:,.2f} (${cost:,.2f} for prompts)"
    return f", about ${cost:,.2f} for prompts (give max_tokens= and price_out= to bound the answers' cost)"
