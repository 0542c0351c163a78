"""Asking: from a plan and its models to answers in the journal."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from itertools import chain, islice
from types import FrameType
from typing import Any, TypeVar

from hbench.core import Failure, Model, ModelError, Outcome, Request
from hbench.core.errors import foreign
from hbench.run.asked import Asked
from hbench.run.entrant import Entrant
from hbench.run.journal import Journal
from hbench.run.plan import Plan, PlannedTask
from hbench.run.progress import Progress

Result = TypeVar("Result")
_BATCH = 256
"""Questions looked up in the journal at a time."""
_PATIENCE = 1.0
"""Seconds after which a stop that is still under way is explained."""


class Stopped(KeyboardInterrupt):
    """The run was asked to end by a signal, and has ended in good order.

    Attributes
    ----------
    signal : int
        Number of the signal.
    """

    def __init__(self, signal: int) -> None:
        super().__init__(f"stopped by signal {signal}")
        self.signal = signal


def execute(
    plan: Plan, models: Sequence[tuple[Entrant, Model]], journal: Journal, progress: Progress
) -> dict[str, Asked]:
    """Ask every model what the journal does not know yet, one model after another.

    All tasks of a model are one queue. A model that gives up leaves the others their turn.

    Returns
    -------
    dict
        What became of each model, by label.

    Raises
    ------
    Stopped
        On Ctrl-C or SIGTERM, after what had been answered was made durable.
    RunError
        When the journal cannot be written; what it holds is kept.
    """
    return run_until_stopped(lambda: _execute(plan, models, journal, progress), waiting=progress.stopping)


async def _execute(
    plan: Plan, models: Sequence[tuple[Entrant, Model]], journal: Journal, progress: Progress
) -> dict[str, Asked]:
    became: dict[str, Asked] = {}
    try:
        for entrant, model in models:
            became[entrant.label] = asked = Asked()
            progress.start(entrant, plan)
            try:
                with foreign(f"model {entrant.label}", ModelError, hint="What it has answered is kept."):
                    await _ask(plan, entrant, model, journal, asked, progress)
            except ModelError as error:
                asked.error = error
            finally:
                # An adapter passes it on as an attribute, which a protocol's check does not see since Python 3.12.
                asked.retries.update(getattr(model, "retries", {}))
                await model.aclose()
                progress.finish(asked)
    finally:
        # Also when the task was cancelled: answers that are there are not given up.
        await journal.flush()
    return became


async def _ask(plan: Plan, entrant: Entrant, model: Model, journal: Journal, asked: Asked, progress: Progress) -> None:
    key_of = entrant.key

    def requests() -> Iterator[Request]:
        for request in chain.from_iterable(missing(planned, entrant, journal) for planned in plan.asked_of(entrant)):
            asked.requested += len(request.draws)
            yield request

    async def deliver(request: Request, draw: int, outcome: Outcome) -> None:
        await journal.add(key_of(request), draw, entrant.label, outcome)
        if isinstance(outcome, Failure) and outcome.stage == "request":
            asked.failed += 1
            asked.failures[outcome.reason] += 1
        else:
            asked.answered += 1
        progress.count(outcome)

    # A model that has nothing to answer is not started: engines take minutes to load.
    walk = requests()
    first = next(walk, None)
    if first is None:
        return
    await model.answer(chain([first], walk), deliver)
    silent = asked.requested - asked.answered - asked.failed
    if silent:
        raise ModelError(
            f"model {entrant.label} ended without a word on {silent} of {asked.requested} draws",
            hint="A model delivers every draw, as a completion or a failure.",
        )


def missing(planned: PlannedTask, entrant: Entrant, journal: Journal | None) -> Iterator[Request]:
    """Yield the requests of a task whose answers the journal (None: an empty one) lacks, with the draws it lacks."""
    key_of = entrant.key
    draws = tuple(range(planned.draws))
    questions = (question for _, question in planned.questions() if question.asked)
    # An empty journal needs no look-ups, and stays known as empty: what this run adds is not asked for twice.
    known = journal if journal is not None and len(journal) else None
    while batch := [planned.request(question, entrant.sampling, draws) for question in islice(questions, _BATCH)]:
        if known is None:
            yield from batch
            continue
        keys = list(map(key_of, batch))
        done = known.answered(keys)
        for key, request in zip(keys, batch, strict=True):
            have = done.get(key, ())
            if not have:
                yield request
            elif left := tuple(draw for draw in draws if draw not in have):
                yield _with_draws(request, left)


def _with_draws(request: Request, draws: tuple[int, ...]) -> Request:
    return Request(
        request.record, request.messages, request.answer, request.sampling, draws, occurrence=request.occurrence
    )


def run_until_stopped(
    work: Callable[[], Coroutine[Any, Any, Result]], *, waiting: Callable[[], object] = lambda: None
) -> Result:
    """Run a coroutine to its end, or until SIGINT or SIGTERM cancels it.

    Works inside a running event loop too (a notebook): the work then gets a thread of its own. `waiting` is called
    where the work is not over within a second of the signal.

    Raises
    ------
    Stopped
        When a signal ended it. A second signal while it winds up has its usual effect.
    """
    if _loop_is_running():
        return _in_thread(work)
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(work())
    caught: list[int] = []

    async def supervised() -> Result:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(work())

        def stop(number: int, frame: FrameType | None = None) -> None:
            caught.append(number)
            for handled, handler in before.items():
                signal.signal(handled, handler)
            loop.call_soon_threadsafe(cancel)

        def cancel() -> None:
            task.cancel()
            loop.call_later(_PATIENCE, waiting)

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            return await task
        finally:
            for handled, handler in before.items():
                signal.signal(handled, handler)

    try:
        return asyncio.run(supervised())
    except asyncio.CancelledError:
        if caught:
            raise Stopped(caught[0]) from None
        raise


def _loop_is_running() -> bool:
    with contextlib.suppress(RuntimeError):
        asyncio.get_running_loop()
        return True
    return False


def _in_thread(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    result: list[Result] = []
    error: list[BaseException] = []
    stop: list[Callable[[], object]] = []

    async def supervised() -> Result:
        task = asyncio.ensure_future(work())
        loop = asyncio.get_running_loop()
        stop.append(lambda: loop.call_soon_threadsafe(task.cancel))
        return await task

    def body() -> None:
        try:
            result.append(asyncio.run(supervised()))
        except BaseException as caught:  # noqa: BLE001 - carried over to the thread that waits
            error.append(caught)

    thread = threading.Thread(target=body, name="hbench")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        for cancel in stop:
            cancel()
        thread.join()
        raise Stopped(signal.SIGINT) from None
    if error:
        raise error[0]
    return result[0]
