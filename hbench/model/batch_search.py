"""Searching a provider's list for a batch that may or may not have been accepted."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Set

from hbench.core import ModelError
from hbench.model.batch_apis import BatchApi, State
from hbench.model.batch_http import BatchHttp, UnclearError
from hbench.model.batch_store import Batch, BatchStore
from hbench.model.health import KEEPS

log = logging.getLogger(__name__)

SETTLE = 3.0
"""Seconds that a provider's list gets to show what was just sent."""
TRIES = 8
"""Tries of sending a batch, of searching the list, or of reading results, before the model is given up."""
SKEW = 3600.0
"""Seconds by which the provider's clock may differ."""


class Search:
    """The search of one model's batches; parameters as of `Batches`."""

    def __init__(self, name: str, api: BatchApi, http: BatchHttp, store: BatchStore, poll: float) -> None:
        self._name = name
        self._api = api
        self._http = http
        self._store = store
        self._poll = poll

    async def find(self, batch: Batch, sent: float) -> bool:
        """Search for a batch that was sent at this time; where it is found, its number is stored."""
        await asyncio.sleep(max(0.0, sent + SETTLE - time.time()))
        known = {other.number for other in self._store.load()}
        stumbles = 0
        while True:
            try:
                under_way = await self._look_through(batch, known)
            except UnclearError as error:
                stumbles += 1
                if stumbles >= TRIES:
                    raise ModelError(
                        f"model {self._name}: the list of batches cannot be read: {error}", hint=KEEPS
                    ) from error
                under_way = True
            if batch.number is not None:
                self._store.save(batch)
                return True
            if not under_way:
                return False
            log.info("%s: batches that may be ours are under way; waiting for them", self._name)
            await asyncio.sleep(self._poll)

    async def _look_through(self, batch: Batch, known: Set[str | None]) -> bool:
        """Give the batch its number, if the list shows it; else tell whether one that may be it is under way."""
        numbers, sure = await self._api.find(self._http, batch.mark, len(batch.ids), batch.since - SKEW)
        under_way = False
        for number in numbers:
            if number in known:
                continue
            state = State(True) if sure else await self._api.look(self._http, number)
            under_way = under_way or not state.ended
            if sure or await self._holds(state, batch):
                batch.number = number
                break
        return under_way

    async def _holds(self, state: State, batch: Batch) -> bool:
        """Tell by the first result whose batch it is; False where there are no results yet."""
        for path in state.results:
            async with contextlib.aclosing(self._http.lines(path)) as lines:
                async for line in lines:
                    return isinstance(line, dict) and str(line.get("custom_id")).endswith(f"-{batch.mark}")
        return False
