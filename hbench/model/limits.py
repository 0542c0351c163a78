"""How often to ask, how long to wait, how much to spend."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


class Pace:
    """A token bucket: at most `per_minute` units a minute, with a burst of one second's worth.

    Notes
    -----
    The bucket is kept as the time at which it would next be full enough (the generic cell rate algorithm), so that
    takers queue in order of arrival without a lock. An amount above the burst is let through and paid for by those who
    follow.
    """

    def __init__(self, per_minute: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds_each = 60.0 / per_minute
        self._burst = max(1.0, self._seconds_each)
        self._clock = clock
        self._next = clock() - self._burst

    def reserve(self, amount: float) -> float:
        """Take `amount` units and return the seconds to wait before using them."""
        now = self._clock()
        self._next = max(self._next, now - self._burst)
        self._next += amount * self._seconds_each
        return max(0.0, self._next - amount * self._seconds_each - now)

    async def take(self, amount: float) -> None:
        """Wait for `amount` units."""
        wait = self.reserve(amount)
        if wait > 0:
            await asyncio.sleep(wait)

    def settle(self, surplus: float) -> None:
        """Charge what an estimate was short of; a negative surplus is given back."""
        self._next += surplus * self._seconds_each


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens."""

    tokens_in: float
    tokens_out: float

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Return the price of one answer in US dollars."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6

    def times(self, factor: float) -> Prices:
        """Return prices of this share."""
        return Prices(self.tokens_in * factor, self.tokens_out * factor)


@dataclass(slots=True)
class Spend:
    """Money spent and reserved for what is in flight, against a limit, in US dollars."""

    limit: float = float("inf")
    spent: float = 0.0
    reserved: float = 0.0
    pending: int = 0
    """Reservations that are not settled yet."""

    def reserve(self, estimate: float, *, anyway: bool = False) -> bool:
        """Set money aside for one request; False where the limit does not allow it.

        `anyway` is for what was sent already.
        """
        if not anyway and self.spent + self.reserved + estimate > self.limit:
            return False
        self.reserved += estimate
        self.pending += 1
        return True

    def settle(self, estimate: float, actual: float) -> None:
        """Replace a reservation by what was paid."""
        self.pending = max(0, self.pending - 1)
        # Sums of floating-point numbers leave a rest; nothing pending must mean that nothing is reserved.
        self.reserved = self.reserved - estimate if self.pending else 0.0
        self.spent += actual


def backoff(
    attempt: int, *, base: float = 0.5, cap: float = 30.0, chance: Callable[[], float] = random.random
) -> float:
    """Return the seconds to wait after failed attempt number `attempt` (from 1): doubling, capped, with jitter.

    The jitter takes off up to half, so that clients which failed together do not come back together.
    """
    return min(cap, base * 2.0 ** min(attempt - 1, 30)) * (1.0 - 0.5 * chance())


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Read how long a server wants to be left alone: seconds, or the seconds until an HTTP date (RFC 9110, 10.2.3).

    Returns None where the header is absent or unreadable.
    """
    exact = headers.get("retry-after-ms")
    if exact is not None:
        try:
            return max(0.0, float(exact) / 1000.0)
        except ValueError:
            pass
    value = headers.get("Retry-After")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if seconds < float("inf") else None
