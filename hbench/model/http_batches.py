"""A model behind HTTP that is asked through its provider's batch API."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hbench.core import Deliver, Failure, JsonValue, Outcome, Request
from hbench.model.accounts import Accounts, Job
from hbench.model.batch import Batches
from hbench.model.batch_apis import APIS
from hbench.model.batch_http import BatchHttp
from hbench.model.batch_names import BatchJob, Namer
from hbench.model.batch_store import BatchStore
from hbench.model.http_settings import HttpSettings
from hbench.model.wire import BodyError, Wire, scrub


async def answer_in_batches(
    name: str,
    jobs: Iterable[Job],
    deliver: Deliver,
    wire: Wire,
    settings: HttpSettings,
    accounts: Accounts,
    secrets: tuple[str, ...],
    folder: Path,
) -> None:
    """Ask for jobs of one draw each, and remember in `folder` what was sent.

    Raises
    ------
    ModelError
        As of `Batches.run`.
    """

    def read(payload: JsonValue, request: Request, draw: int) -> tuple[Outcome, float]:
        try:
            reply = wire.read(payload, (draw,))
        except BodyError as error:
            return Failure("request", error.reason, scrub(error.detail, secrets)), 0.0
        outcomes, paid = accounts.count(reply, sum(len(message.content) for message in request.messages) // 4)
        accounts.stats.answered += 1
        return outcomes[draw], paid

    http = BatchHttp(
        name,
        settings.urls[0],
        wire.headers(),
        wire.complaint,
        timeout=settings.timeout,
        patience=settings.patience,
        max_wait=settings.max_wait,
        max_body=settings.max_body,
        secrets=secrets,
    )
    batches = Batches(
        name,
        APIS[wire.path],
        http,
        BatchStore(folder),
        namer=Namer(wire.identity),
        read=read,
        spend=accounts.spend,
        size=settings.batch_requests,
        poll=settings.batch_poll,
    )
    try:
        await batches.run(
            (BatchJob(job.request, job.draws[0], job.body, accounts.estimate(job)) for job in jobs), deliver
        )
    finally:
        await http.aclose()
