"""What a run would ask and cost, without asking."""

from __future__ import annotations

from collections.abc import Callable

from hbench.core import Failure, Model, Request
from hbench.model.context_length import CHARACTERS_PER_TOKEN
from hbench.model.limits import Prices
from hbench.run.entrant import Entrant
from hbench.run.evaluate import JOURNAL, Job
from hbench.run.execute import missing
from hbench.run.journal import Journal

_NAMED = 5
"""Records that do not fit and are named, of each task."""


def forecast(job: Job) -> str:
    """Count the requests that the run would send now, their prompts' tokens and their cost.

    Tokens are characters divided by four. The cost needs the model's prices (``price_in=``, ``price_out=``, in US
    dollars per million tokens, or a table); answers count with ``max_tokens``, their most, where it is given.
    """
    path = job.path / JOURNAL
    # An absent journal is not made: a dry run leaves no trace.
    journal = Journal(path, reading=True) if path.exists() else None
    lines = [f"{len(job.plan.tasks)} tasks, {len(job.models)} models, run folder {job.path}"]
    lines += [f"left out, {one.reason}: {one.task}" for one in job.plan.left_out]
    try:
        for entrant, model in job.models:
            lines.append(f"{entrant.label}:")
            total = tokens = 0
            excess: Callable[[Request], Failure | None] = getattr(model, "excess", lambda request: None)
            for planned in job.plan.tasks:
                reason = entrant.unsupported.get(planned.name)
                if reason is not None:
                    lines.append(f"  {planned.name}: not for this model: {reason}")
                    continue
                draws = characters = 0
                too_long: list[str] = []
                for request in missing(planned, entrant, journal):
                    draws += len(request.draws)
                    characters += len(request.draws) * sum(len(message.content) for message in request.messages)
                    if excess(request) is not None:
                        too_long.append(request.record.key)
                total += draws
                tokens += characters // CHARACTERS_PER_TOKEN
                lines.append(
                    f"  {planned.name}: {draws:,} requests, about {characters // CHARACTERS_PER_TOKEN:,} prompt tokens "
                    f"({', '.join(planned.splits)})"
                )
                if too_long:
                    named = ", ".join(too_long[:_NAMED]) + (", ..." if len(too_long) > _NAMED else "")
                    lines.append(f"    {len(too_long):,} do not fit into the context and are not sent: {named}")
            lines.append(
                f"  in all: {total:,} requests, about {tokens:,} prompt tokens{_cost(entrant, model, total, tokens)}"
            )
    finally:
        if journal is not None:
            journal.close()
    lines.append(f"Tokens are estimated as characters / {CHARACTERS_PER_TOKEN}; nothing was asked.")
    return "\n".join(lines)


def _cost(entrant: Entrant, model: Model, requests: int, tokens: int) -> str:
    prices: Prices | None = getattr(model, "prices", None)
    if prices is None:
        return ""
    cost, most = prices.cost(tokens, 0), entrant.sampling.max_tokens
    if most is not None:
        return f", at most about ${cost + prices.cost(0, requests * most):,.2f} (${cost:,.2f} for prompts)"
    return f", about ${cost:,.2f} for prompts (give max_tokens= to bound the answers' cost)"
