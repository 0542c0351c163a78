"""Asking over HTTP: slots, retries, limits, and naming what went wrong.

Requests stream from the plan. A slot is used again only after its answer is durable, and a request that waits for
another try holds no slot.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from hbench.core import Deliver, Failure, JsonValue, ModelError, Request
from hbench.model.accounts import Accounts, Job, Stats
from hbench.model.batch_apis import APIS
from hbench.model.context_length import ContextLength
from hbench.model.flow import Flow
from hbench.model.health import Health
from hbench.model.http_call import Caller, Endpoint, RefusedError, RetryError, shown_address
from hbench.model.http_settings import HttpSettings
from hbench.model.limits import Prices, Spend, backoff
from hbench.model.probe import Address, list_models
from hbench.model.structured import Structured
from hbench.model.wire import TOO_LONG, Wire

log = logging.getLogger(__name__)


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
        self._accounts = Accounts(name, settings)
        self._wire = wire
        self._secrets = secrets
        self._structured = structured
        self._endpoints = [Endpoint(url.rstrip("/") + wire.path, settings.concurrency) for url in settings.urls]
        self._health = Health(name, patience=settings.patience, many=max(20, 3 * settings.attempts))
        self._caller = Caller(name, wire, settings, secrets)
        self._context = ContextLength(settings.context)
        self._flow: Flow[Job] | None = None
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
        return self._accounts.prices

    @property
    def stats(self) -> Stats:
        """Counters so far."""
        return self._accounts.stats

    @property
    def retries(self) -> Mapping[str, int]:
        """Tries that failed and were made again, by the name of the fault."""
        return self.stats.retries

    @property
    def spend(self) -> Spend:
        """Money spent and set aside."""
        return self._accounts.spend

    def limit_spending(self, spent: float, shared: Spend | None = None) -> None:
        """Count what earlier sessions spent, in US dollars, and keep within a limit that several models share.

        Raises
        ------
        ModelError
            There is a limit to share but no prices, or the model has a limit of its own.
        """
        if shared is None:
            self.spend.spent += spent
        else:
            self._accounts.share(shared)

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
        self._accounts.discount(self.settings.batch_discount)

    def excess(self, request: Request) -> Failure | None:
        """Return why a request is longer than the stated context, by estimate, or None."""
        return self._context.excess(request)

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
        jobs = self._jobs(self._context.fitting(requests))
        if self._batch_folder is None:
            await self._answer_one_by_one(jobs, deliver)
        else:
            from hbench.model.http_batches import answer_in_batches

            await answer_in_batches(
                self.name, jobs, deliver, self._wire, self.settings, self._accounts, self._secrets, self._batch_folder
            )
        await self._context.tell(deliver)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._caller.aclose()

    async def _answer_one_by_one(self, jobs: Iterator[Job], deliver: Deliver) -> None:
        async def handle(job: Job) -> float | None:
            return await self._handle(job, deliver)

        self._caller.open(self._endpoints)
        self._flow = Flow(
            jobs,
            handle,
            concurrency=self.settings.concurrency,
            max_parked=max(self.settings.max_parked, 4 * self.settings.concurrency),
            may_take=lambda: self._health.reachable,
        )
        await self._flow.run()

    def _jobs(self, requests: Iterable[Request]) -> Iterator[Job]:
        for request in requests:
            for draws in self._wire.jobs(request.draws):
                yield Job(request, draws, self._wire.body(request, draws))

    async def _handle(self, job: Job, deliver: Deliver) -> float | None:
        """Try a job once; return the seconds until the next try, or None when it is done."""
        endpoint = min(self._endpoints, key=Endpoint.load)
        sent = endpoint.window.epoch
        reserved = self._accounts.reserve(job)
        if reserved is None:
            return 0.1
        paid = 0.0
        try:
            await self._accounts.wait_for_limits(job)
            self.stats.requests += 1
            reply = await self._caller.ask(endpoint, job.body, job.draws)
            outcomes, paid = self._accounts.count(reply, job.tokens_in)
        except RetryError as retry:
            if retry.overload:
                self._adapt(endpoint, sent, refused=True)
            return await self._try_later(retry, endpoint, job, deliver)
        except RefusedError as refusal:
            # A long prompt says nothing of the next one.
            if refusal.reason != TOO_LONG:
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

    async def _try_later(self, retry: RetryError, endpoint: Endpoint, job: Job, deliver: Deliver) -> float | None:
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

    async def _fail(self, job: Job, failure: Failure, deliver: Deliver) -> None:
        for draw in job.draws:
            self.stats.failures[failure.reason] += 1
            await deliver(job.request, draw, failure)
