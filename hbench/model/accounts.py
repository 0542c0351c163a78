"""Tokens and money: what a request is expected to take, what it took, and whether it may be sent yet."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hbench.core import Completion, Failure, ModelError, Request
from hbench.model.flow import DrainError
from hbench.model.health import KEEPS
from hbench.model.http_settings import HttpSettings, no_prices
from hbench.model.limits import Pace, Spend
from hbench.model.wire import Reply


@dataclass(slots=True)
class Stats:
    """Counters for progress displays and reports."""

    requests: int = 0
    answered: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    retries: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Job:
    """Draws that one request asks for, and the bytes that ask."""

    request: Request
    draws: tuple[int, ...]
    body: bytes
    attempts: int = 0
    unreached: int = 0

    @property
    def tokens_in(self) -> int:
        """Tokens of the prompt by estimate."""
        return len(self.body) // 4


class Accounts:
    """The accounts of one model.

    Parameters
    ----------
    name : str
        The model as the user named it, for messages.
    settings : HttpSettings
        Prices and limits.
    """

    def __init__(self, name: str, settings: HttpSettings) -> None:
        self.stats = Stats()
        self.prices = settings.prices
        self.spend = Spend(limit=float("inf") if settings.max_cost is None else settings.max_cost)
        self._name = name
        self._own_limit = settings.max_cost is not None
        self._request_pace = settings.requests_per_minute and Pace(settings.requests_per_minute)
        self._token_pace = settings.tokens_per_minute and Pace(settings.tokens_per_minute)

    def share(self, spend: Spend) -> None:
        """Keep within a limit that several models share.

        Raises
        ------
        ModelError
            There are no prices, or the model has a limit of its own.
        """
        if self.prices is None:
            raise no_prices(self._name)
        if self._own_limit:
            raise ModelError(f"model {self._name}: max_cost= and a limit for the whole run; give one of them")
        self.spend = spend

    async def wait_for_limits(self, job: Job) -> None:
        """Wait until the rates allow a request."""
        if self._request_pace:
            await self._request_pace.take(1)
        if self._token_pace:
            await self._token_pace.take(job.tokens_in + self._mean_out())

    def reserve(self, job: Job) -> float | None:
        """Set money aside; None while it is not known what the requests in flight will have cost.

        Raises
        ------
        DrainError
            The limit is reached.
        """
        if self.prices is None:
            return 0.0
        estimate = self.estimate(job)
        if self.spend.reserve(estimate):
            return estimate
        if self.spend.pending:
            return None
        raise DrainError(
            ModelError(
                f"model {self._name}: the spend limit of ${self.spend.limit:.2f} is reached"
                f" (${self.spend.spent:.4f} spent so far, the next request is estimated at ${estimate:.4f})",
                hint=f"raise max_cost; {KEEPS}",
            )
        )

    def estimate(self, job: Job) -> float:
        """Return the US dollars that a job will cost; 0 where there are no prices."""
        out = len(job.draws) * self._mean_out(job.request.sampling.max_tokens)
        return 0.0 if self.prices is None else self.prices.cost(job.tokens_in, out)

    def count(self, reply: Reply, estimate_in: int) -> tuple[dict[int, Completion | Failure], float]:
        """Count tokens and split them over the draws, so that sums over draws are what the provider counted.

        Returns
        -------
        tuple
            The outcomes with their tokens and costs, and the US dollars paid for all of them.
        """
        tokens_in, tokens_out = reply.tokens_in, reply.tokens_out
        self.stats.tokens_in += tokens_in or 0
        self.stats.tokens_out += tokens_out or 0
        if self._token_pace and tokens_in is not None:
            self._token_pace.settle(tokens_in + (tokens_out or 0) - estimate_in - self._mean_out())
        prices = self.prices
        outcomes: dict[int, Completion | Failure] = {}
        rest_in, rest_out = tokens_in, tokens_out
        for place, (draw, outcome) in enumerate(reply.outcomes.items()):
            if isinstance(outcome, Completion):
                share_out = None if rest_out is None else rest_out // (len(reply.outcomes) - place)
                known = prices is not None and tokens_in is not None
                cost = prices.cost(rest_in or 0, share_out or 0) if prices is not None and known else None
                outcome = Completion(outcome.text, outcome.reasoning, rest_in, share_out, cost)
                rest_in = rest_in and 0
                rest_out = None if rest_out is None or share_out is None else rest_out - share_out
            outcomes[draw] = outcome
        if prices is None:
            return outcomes, 0.0
        return outcomes, prices.cost(tokens_in if tokens_in is not None else estimate_in, tokens_out or 0)

    def discount(self, share: float) -> None:
        """Take this share off the prices."""
        self.prices = None if self.prices is None else self.prices.times(1.0 - share)

    def _mean_out(self, limit: int | None = None) -> float:
        """Tokens of an answer to expect: the mean so far, before the first one a guess."""
        if self.stats.answered and self.stats.tokens_out:
            return self.stats.tokens_out / self.stats.answered
        return min(limit or 256, 1024)
