"""Asking over HTTP: slots, retries, limits, and naming what went wrong.

Requests stream from the plan. A slot is used again only after its answer is durable, and a request that waits for
another try holds no slot.
"""

from __future__ import annotations

import json
import logging
import os
import ssl
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit, urlunsplit

from hbench.core import Completion, Deliver, Failure, JsonValue, ModelError, Outcome, Request
from hbench.model.batch_apis import APIS
from hbench.model.flow import DrainError, Flow
from hbench.model.health import KEEPS, Health
from hbench.model.limits import Pace, Prices, Spend, backoff, retry_after
from hbench.model.probe import Address, list_models
from hbench.model.structured import Structured
from hbench.model.window import OVERLOAD, Window
from hbench.model.wire import BodyError, Reply, Wire, scrub

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

log = logging.getLogger(__name__)

RETRIED = frozenset({408, 409, 425, 429})
"""Statuses below 500 that another try may change."""


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How to ask.

    Attributes
    ----------
    urls : tuple of str
        Base URLs; several share the load.
    concurrency : int
        Requests in flight, at most.
    adaptive : bool
        Whether fewer are kept in flight at a server that refuses them as too many.
    attempts : int
        Tries of a request before it is a failure. Refused connections do not count: they end by `patience`.
    timeout, patience, max_wait : float
        Seconds: for one try; without any answer before the model is given up; that a Retry-After may ask for.
    max_body : int
        Bytes above which a response is refused.
    requests_per_minute, tokens_per_minute : float or None
        Rate limits.
    batch_requests, batch_poll, batch_discount
        Of batch APIs: requests of a batch at most, seconds between two looks, share of the price that is taken off.
    prices : Prices or None
        Price table.
    max_cost : float or None
        US dollars above which no further request is sent.
    """

    urls: tuple[str, ...]
    concurrency: int = 16
    adaptive: bool = True
    attempts: int = 8
    timeout: float = 600.0
    patience: float = 60.0
    max_wait: float = 300.0
    max_body: int = 16 * 2**20
    max_parked: int = 1024
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    batch_requests: int = 10_000
    batch_poll: float = 30.0
    batch_discount: float = 0.5
    prices: Prices | None = None
    max_cost: float | None = None


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


class _RetryError(Exception):
    """Another try may help."""

    def __init__(
        self, reason: str, detail: str, *, wait: float | None = None, reached: bool = True, overload: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.wait = wait
        self.reached = reached
        self.overload = overload


class _RefusedError(Exception):
    """Another try of this request would not help."""

    def __init__(self, status: int, reason: str, detail: str, *, hopeless: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.detail = detail
        self.hopeless = hopeless


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
        self._endpoints = [_Endpoint(url.rstrip("/") + wire.path, settings.concurrency) for url in settings.urls]
        self._health = Health(name, patience=settings.patience, many=max(20, 3 * settings.attempts))
        self._request_pace = settings.requests_per_minute and Pace(settings.requests_per_minute)
        self._token_pace = settings.tokens_per_minute and Pace(settings.tokens_per_minute)
        self._session: aiohttp.ClientSession | None = None
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
            address = await list_models(url, _shown(url), self._wire.headers())
            found.append(replace(address, problem=address.problem and self._scrub(address.problem)))
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

        self._open()
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
        session, self._session = self._session, None
        if session is not None:
            await session.close()

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
            return Failure("request", error.reason, self._scrub(error.detail)), 0.0
        outcomes, paid = self._account(reply, sum(len(message.content) for message in request.messages) // 4)
        self.stats.answered += 1
        return outcomes[draw], paid

    def _jobs(self, requests: Iterable[Request]) -> Iterator[_Job]:
        for request in requests:
            for draws in self._wire.jobs(request.draws):
                yield _Job(request, draws, self._wire.body(request, draws))

    def _open(self) -> None:
        if self._session is not None:
            return
        import aiohttp  # 0.2 s to import, so only when something is asked
        from yarl import URL

        for endpoint in self._endpoints:
            endpoint.target = URL(endpoint.url)

        self._session = aiohttp.ClientSession(
            # The flow's slots are the limit; a second one in the connector would only queue behind it.
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=self.settings.timeout, sock_connect=min(30.0, self.settings.timeout)),
            headers={"Content-Type": "application/json", **self._wire.headers()},
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=any(os.environ.get(name) for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")),
        )

    async def _handle(self, job: _Job, deliver: Deliver) -> float | None:
        """Try a job once; return the seconds until the next try, or None when it is done."""
        endpoint = min(self._endpoints, key=_Endpoint.load)
        sent = endpoint.window.epoch
        estimate_in = len(job.body) // 4
        reserved = self._reserve(job, estimate_in)
        if reserved is None:
            return 0.1
        paid = 0.0
        try:
            await self._wait_for_limits(estimate_in)
            reply = await self._ask(endpoint, job)
            outcomes, paid = self._account(reply, estimate_in)
        except _RetryError as retry:
            if retry.overload:
                self._adapt(endpoint, sent, refused=True)
            return await self._try_later(retry, endpoint, job, deliver)
        except _RefusedError as refusal:
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
            _RetryError("too_few_choices", f"{len(missing)} draws are missing"), endpoint, job, deliver
        )

    def _adapt(self, endpoint: _Endpoint, sent: int, *, refused: bool) -> None:
        """Let the server's answer or refusal change how much it is asked at a time."""
        if self.settings.adaptive and endpoint.window.note(sent, refused=refused) and self._flow is not None:
            self._flow.resize(sum(endpoint.window.size for endpoint in self._endpoints))

    async def _ask(self, endpoint: _Endpoint, job: _Job) -> Reply:
        import aiohttp

        assert self._session is not None  # noqa: S101 - `answer` opened it
        endpoint.in_flight += 1
        self.stats.requests += 1
        try:
            async with self._session.post(endpoint.target, data=job.body, allow_redirects=False) as response:
                body = await self._body(response)
                headers = response.headers
                status = response.status
        except aiohttp.InvalidURL as error:
            raise ModelError(f"model {self.name}: {endpoint.shown} is not a usable address") from error
        except (aiohttp.ClientConnectorSSLError, aiohttp.ClientConnectorCertificateError, ssl.SSLError) as error:
            raise ModelError(
                f"model {self.name}: no secure connection to {endpoint.shown}: {self._scrub(error)}",
                hint="check that base_url says http or https as the server does, and the server's certificate",
            ) from error
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            endpoint.refusals += 1
            raise _RetryError("connection", self._scrub(error), reached=False) from error
        except TimeoutError as error:
            raise _RetryError("timeout", f"no answer within {self.settings.timeout:g} s") from error
        except aiohttp.ClientPayloadError as error:
            raise _RetryError("incomplete_body", self._scrub(error)) from error
        except (aiohttp.ClientError, OSError) as error:
            raise _RetryError("disconnected", self._scrub(error)) from error
        finally:
            endpoint.in_flight -= 1
        endpoint.refusals = 0
        return self._read(status, headers, body, job)

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        limit = self.settings.max_body
        if (response.content_length or 0) > limit:
            response.close()
            raise _RefusedError(200, "body_too_large", f"{response.content_length} bytes, allowed are {limit}")
        chunks = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > limit:
                response.close()
                raise _RefusedError(200, "body_too_large", f"more than {limit} bytes")
            chunks.append(chunk)
        return b"".join(chunks)

    def _read(self, status: int, headers: Mapping[str, str], body: bytes, job: _Job) -> Reply:
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            payload = None
            if status == 200:
                kind = headers.get("Content-Type", "")
                wrong = "json" not in kind.lower()
                raise _RetryError(
                    "wrong_content_type" if wrong else "invalid_json",
                    self._scrub(f"{kind}: " * wrong + body[:200].decode(errors="replace")),
                ) from None
        if status != 200:
            raise self._refusal(status, headers, payload, body)
        try:
            return self._wire.read(payload, job.draws)
        except BodyError as error:
            if error.status is not None:
                raise self._refusal(error.status, headers, payload, body) from None
            detail = self._scrub(error.detail)
            if error.final:
                raise _RefusedError(200, error.reason, detail) from None
            raise _RetryError(error.reason, detail) from None

    def _refusal(self, status: int, headers: Mapping[str, str], payload: JsonValue, body: bytes) -> Exception:
        message, code = self._wire.complaint(payload)
        detail = self._scrub(message or body[:400].decode(errors="replace")) or "no message"
        reason = f"http_{status}"
        if code == "insufficient_quota":
            return _RefusedError(status, code, detail, hopeless=True)
        if status not in RETRIED and status < 500:
            return _RefusedError(status, reason, detail)
        wait = retry_after(headers)
        if wait is not None and wait > self.settings.max_wait:
            allowed = f"max_wait={self.settings.max_wait:g}"
            return _RefusedError(status, reason, f"asks to wait {wait:.0f} s, more than {allowed}: {detail}")
        return _RetryError(reason, detail, wait=wait, overload=status in OVERLOAD)

    async def _try_later(self, retry: _RetryError, endpoint: _Endpoint, job: _Job, deliver: Deliver) -> float | None:
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

    def _scrub(self, text: object) -> str:
        return scrub(str(text), self._secrets)


def no_prices(name: str) -> ModelError:
    """Make the error about a spend limit without prices."""
    return ModelError(
        f"model {name}: max_cost needs prices",
        hint="add price_in= and price_out=, in US dollars per million tokens, or a table of prices (HBENCH_PRICES)",
    )


def _shown(url: str) -> str:
    """Return an address for messages, which show neither user and password nor a key in the query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class _Endpoint:
    """One address, and how it does."""

    def __init__(self, url: str, ceiling: int) -> None:
        self.url = url
        self.target: URL | str = url
        self.window = Window(ceiling)
        self.in_flight = 0
        self.refusals = 0
        self.shown = _shown(url)

    def load(self) -> float:
        """Return how busy it is for its window; each refused connection in a row makes it look busier."""
        return self.in_flight / self.window.size + 1000.0 * self.refusals
