"""Asking over HTTP: slots, retries, limits, and naming what went wrong.

Requests stream from the plan. A slot is used again only after its answer is durable, and a request that waits for
another try holds no slot.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from hbench.core import Completion, Deliver, Failure, JsonValue, ModelError, Outcome, Request
from hbench.model.batch_apis import APIS
from hbench.model.flow import DrainError, Flow
from hbench.model.health import KEEPS, Health
from hbench.model.http_call import Caller, Endpoint, RefusedError, RetryError, shown_address
from hbench.model.http_settings import HttpSettings, no_prices
from hbench.model.limits import Pace, Prices, Spend, backoff
from hbench.model.probe import Address, list_models
from hbench.model.structured import Structured
from hbench.model.wire import BodyError, Reply, Wire

log = logging.getLogger(__name__)


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
class _Job:
    request: Request
    draws: tuple[int, ...]
    body: bytes
    attempts: int = 0
    unreached: int = 0


class HttpModel:
    """A model behind an HTTP endpoint.

    Parameters
    ----------
    name : str
        The model as the user named it, for messages.
    wire : Wire
        The provider's format.
    settings : HttpSettings
        How to ask.
    secrets : tuple of str
        Keys that must appear in no message.
    structured : Structured or None
        Holds answers to a JSON Schema, where tasks have one.
    """

    generative = True

    def __init__(
        self,
        name: str,
        wire: Wire,
        settings: HttpSettings,
        *,
        secrets: tuple[str, ...] = (),
        structured: Structured | None = None,
    ) -> None:
        self.name = name
        self.settings = settings
        self.stats = Stats()
        self.spend = Spend(limit=float("inf") if settings.max_cost is None else settings.max_cost)
        self._wire = wire
        self._secrets = secrets
        self._structured = structured
        self._endpoints = [Endpoint(url.rstrip("/") + wire.path, settings.concurrency) for url in settings.urls]
        self._health = Health(name, patience=settings.patience, many=max(20, 3 * settings.attempts))
        self._request_pace = settings.requests_per_minute and Pace(settings.requests_per_minute)
        self._token_pace = settings.tokens_per_minute and Pace(settings.tokens_per_minute)
        self._caller = Caller(name, wire, settings, secrets)
        self._flow: Flow[_Job] | None = None
        self._batch_folder: Path | None = None

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Provider format and model name; addresses, keys and parallelism are no part of it."""
        return self._wire.identity

    @property
    def reads(self) -> Literal["messages", "record"]:
        """Answers depend on the prompt alone."""
        return "messages"

    @property
    def prices(self) -> Prices | None:
        """What an answer costs, where it is known."""
        return self.settings.prices

    def limit_spending(self, spent: float, shared: Spend | None = None) -> None:
        """Count what earlier sessions spent, in US dollars, and keep within a limit that several models share.

        Raises
        ------
        ModelError
            There is a limit to share but no prices, or the model has a limit of its own.
        """
        if shared is None:
            self.spend.spent += spent
            return
        if self.settings.prices is None:
            raise no_prices(self.name)
        if self.settings.max_cost is not None:
            raise ModelError(f"model {self.name}: max_cost= and a limit for the whole run; give one of them")
        self.spend = shared

    def use_batches(self, folder: Path) -> None:
        """Ask through the provider's batch API, at its price, and remember in `folder` what was sent.

        Raises
        ------
        ModelError
            The provider has no batch API, or options exclude it.
        """
        if self._wire.path not in APIS:
            raise ModelError(f"model {self.name}: there is no batch API for it", hint="leave --batch-api out")
        if len(self._wire.jobs((0, 1))) == 1:
            raise ModelError(f"model {self.name}: n_draws=native and --batch-api exclude each other")
        if len(self.settings.urls) > 1:
            raise ModelError(f"model {self.name}: a batch API has one address; base_url names several")
        self._batch_folder = folder
        if (prices := self.settings.prices) is not None:
            self.settings = replace(self.settings, prices=prices.times(1.0 - self.settings.batch_discount))

    async def probe(self) -> list[Address]:
        """Find out whether each address answers; the model is not asked."""
        found = []
        for url in self.settings.urls:
            address = await list_models(url, shown_address(url), self._wire.headers())
            found.append(replace(address, problem=address.problem and self._caller.scrub(address.problem)))
        return found

    @property
    def parked(self) -> int:
        """Requests that wait for another try."""
        return self._flow.parked if self._flow else 0

    def unsupported(self, task: str) -> str | None:
        """Every task that has prompts can be asked; structured answers need a format that is JSON."""
        return None if self._structured is None else self._structured.unsupported(task)

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Ask for every draw of every request.

        Raises
        ------
        ModelError
            Where the key is refused, the model unknown, the spend limit reached, or the server gone for longer than the
            patience allows. What was delivered stays.
        """
        if self._batch_folder is not None:
            await self._answer_in_batches(requests, deliver, self._batch_folder)
            return

        async def handle(job: _Job) -> float | None:
            return await self._handle(job, deliver)

        self._caller.open(self._endpoints)
        self._flow = Flow(
            self._jobs(requests),
            handle,
            concurrency=self.settings.concurrency,
            max_parked=max(self.settings.max_parked, 4 * self.settings.concurrency),
            may_take=lambda: self._health.reachable,
        )
        await self._flow.run()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._caller.aclose()

    async def _answer_in_batches(self, requests: Iterable[Request], deliver: Deliver, folder: Path) -> None:
        from hbench.model.batch import Batches, BatchJob, Namer
        from hbench.model.batch_http import BatchHttp
        from hbench.model.batch_store import BatchStore

        settings = self.settings

        def jobs() -> Iterator[BatchJob]:
            for job in self._jobs(requests):
                yield BatchJob(job.request, job.draws[0], job.body, self._estimate(job, len(job.body) // 4))

        http = BatchHttp(
            self.name,
            settings.urls[0],
            self._wire.headers(),
            self._wire.complaint,
            timeout=settings.timeout,
            patience=settings.patience,
            max_wait=settings.max_wait,
            max_body=settings.max_body,
            secrets=self._secrets,
        )
        batches = Batches(
            self.name,
            APIS[self._wire.path],
            http,
            BatchStore(folder),
            namer=Namer(self.identity),
            read=self._read_batched,
            spend=self.spend,
            size=settings.batch_requests,
            poll=settings.batch_poll,
        )
        try:
            await batches.run(jobs(), deliver)
        finally:
            await http.aclose()

    def _read_batched(self, payload: JsonValue, request: Request, draw: int) -> tuple[Outcome, float]:
        """Read one response of a batch; return it with what was paid."""
        try:
            reply = self._wire.read(payload, (draw,))
        except BodyError as error:
            return Failure("request", error.reason, self._caller.scrub(error.detail)), 0.0
        outcomes, paid = self._account(reply, sum(len(message.content) for message in request.messages) // 4)
        self.stats.answered += 1
        return outcomes[draw], paid

    def _jobs(self, requests: Iterable[Request]) -> Iterator[_Job]:
        for request in requests:
            for draws in self._wire.jobs(request.draws):
                yield _Job(request, draws, self._wire.body(request, draws))

    async def _handle(self, job: _Job, deliver: Deliver) -> float | None:
        """Try a job once; return the seconds until the next try, or None when it is done."""
        endpoint = min(self._endpoints, key=Endpoint.load)
        sent = endpoint.window.epoch
        estimate_in = len(job.body) // 4
        reserved = self._reserve(job, estimate_in)
        if reserved is None:
            return 0.1
        paid = 0.0
        try:
            await self._wait_for_limits(estimate_in)
            self.stats.requests += 1
            reply = await self._caller.ask(endpoint, job.body, job.draws)
            outcomes, paid = self._account(reply, estimate_in)
        except RetryError as retry:
            if retry.overload:
                self._adapt(endpoint, sent, refused=True)
            return await self._try_later(retry, endpoint, job, deliver)
        except RefusedError as refusal:
            self._health.refused(refusal.status, endpoint.shown, refusal.detail, hopeless=refusal.hopeless)
            await self._fail(job, Failure("request", refusal.reason, refusal.detail), deliver)
            return None
        finally:
            self.spend.settle(reserved, paid)
        self._health.answered()
        self._adapt(endpoint, sent, refused=False)
        self.stats.answered += len(outcomes)
        for draw, outcome in outcomes.items():
            await deliver(job.request, draw, outcome)
        missing = tuple(draw for draw in job.draws if draw not in outcomes)
        if not missing:
            return None
        job.draws = missing
        job.body = self._wire.body(job.request, missing)
        return await self._try_later(
            RetryError("too_few_choices", f"{len(missing)} draws are missing"), endpoint, job, deliver
        )

    def _adapt(self, endpoint: Endpoint, sent: int, *, refused: bool) -> None:
        """Let the server's answer or refusal change how much it is asked at a time."""
        if self.settings.adaptive and endpoint.window.note(sent, refused=refused) and self._flow is not None:
            self._flow.resize(sum(endpoint.window.size for endpoint in self._endpoints))

    async def _try_later(self, retry: RetryError, endpoint: Endpoint, job: _Job, deliver: Deliver) -> float | None:
        log.debug("%s: %s (%s)", endpoint.shown, retry.reason, retry.detail)
        # A rate limit is no sign of ill health.
        if retry.reason != "http_429":
            self._health.trouble(endpoint.shown, f"{retry.reason}: {retry.detail}", reached=retry.reached)
        if retry.reached:
            job.attempts += 1
            if job.attempts >= self.settings.attempts:
                detail = f"{retry.detail} (attempt {job.attempts} of {self.settings.attempts})"
                await self._fail(job, Failure("request", retry.reason, detail), deliver)
                return None
            delay = backoff(job.attempts)
        else:
            job.unreached += 1
            delay = backoff(job.unreached, base=0.25, cap=5.0)
        self.stats.retries[retry.reason] += 1
        return delay if retry.wait is None else max(retry.wait, 0.05) + 0.1 * delay

    async def _fail(self, job: _Job, failure: Failure, deliver: Deliver) -> None:
        for draw in job.draws:
            self.stats.failures[failure.reason] += 1
            await deliver(job.request, draw, failure)

    async def _wait_for_limits(self, estimate_in: int) -> None:
        if self._request_pace:
            await self._request_pace.take(1)
        if self._token_pace:
            await self._token_pace.take(estimate_in + self._mean_out())

    def _reserve(self, job: _Job, estimate_in: int) -> float | None:
        """Set money aside; None while it is not known what the requests in flight will have cost."""
        prices = self.settings.prices
        if prices is None:
            return 0.0
        estimate = self._estimate(job, estimate_in)
        if self.spend.reserve(estimate):
            return estimate
        if self.spend.pending:
            return None
        raise DrainError(
            ModelError(
                f"model {self.name}: the spend limit of ${self.spend.limit:.2f} is reached"
                f" (${self.spend.spent:.4f} spent so far, the next request is estimated at ${estimate:.4f})",
                hint=f"raise max_cost; {KEEPS}",
            )
        )

    def _estimate(self, job: _Job, estimate_in: int) -> float:
        """US dollars that a job will cost; 0 where there are no prices."""
        prices = self.settings.prices
        out = len(job.draws) * self._mean_out(job.request.sampling.max_tokens)
        return 0.0 if prices is None else prices.cost(estimate_in, out)

    def _mean_out(self, limit: int | None = None) -> float:
        """Tokens of an answer to expect: the mean so far, before the first one a guess."""
        if self.stats.answered and self.stats.tokens_out:
            return self.stats.tokens_out / self.stats.answered
        return min(limit or 256, 1024)

    def _account(self, reply: Reply, estimate_in: int) -> tuple[dict[int, Completion | Failure], float]:
        """Count tokens and split them over the draws, so that sums over draws are what the provider counted."""
        tokens_in, tokens_out = reply.tokens_in, reply.tokens_out
        self.stats.tokens_in += tokens_in or 0
        self.stats.tokens_out += tokens_out or 0
        if self._token_pace and tokens_in is not None:
            self._token_pace.settle(tokens_in + (tokens_out or 0) - estimate_in - self._mean_out())
        prices = self.settings.prices
        known = prices is not None and tokens_in is not None
        outcomes: dict[int, Completion | Failure] = {}
        rest_in, rest_out = tokens_in, tokens_out
        count = len(reply.outcomes)
        for place, (draw, outcome) in enumerate(reply.outcomes.items()):
            if isinstance(outcome, Completion):
                share_out = None if rest_out is None else rest_out // (count - place)
                cost = prices.cost(rest_in or 0, share_out or 0) if prices is not None and known else None
                outcome = Completion(outcome.text, outcome.reasoning, rest_in, share_out, cost)
                rest_in = rest_in and 0
                rest_out = None if rest_out is None or share_out is None else rest_out - share_out
            outcomes[draw] = outcome
        if prices is None:
            return outcomes, 0.0
        return outcomes, prices.cost(tokens_in if tokens_in is not None else estimate_in, tokens_out or 0)
