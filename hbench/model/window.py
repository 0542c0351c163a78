"""How many requests a server bears at a time: found out by additive increase and multiplicative decrease."""

from __future__ import annotations

OVERLOAD = frozenset({429, 503, 529})
"""Statuses by which servers say that they are asked too much; 529 is Anthropic's."""
TOLERATED = 0.2
"""Share of refusals below which they are no sign of too many requests in flight.

Servers refuse single requests for other reasons. One that is over its limit refuses most of what exceeds it, and
at once, so that the share rises fast.
"""
CUT = 0.75


class Window:
    """Requests that one server is asked at a time.

    The window starts at its ceiling, so that a server without limits is asked at full speed from the first request.
    Whenever as many requests as it holds have been answered or refused, it grows by one, or is cut by a quarter where
    more than `TOLERATED` were refused. Requests sent before the last change say nothing about it and do not count,
    so that one burst of refusals cuts it once.

    Parameters
    ----------
    ceiling : int
        The most it may hold.
    """

    __slots__ = ("_answered", "_ceiling", "_refused", "epoch", "size")

    def __init__(self, ceiling: int) -> None:
        self._ceiling = ceiling
        self.size = ceiling
        self.epoch = 0
        """Number of changes so far; noted by a request when it is sent."""
        self._answered = self._refused = 0

    def note(self, sent: int, *, refused: bool) -> bool:
        """Count a request that was sent in epoch `sent`; return whether the window changed."""
        if sent != self.epoch:
            return False
        if refused:
            self._refused += 1
        else:
            self._answered += 1
        if self._answered + self._refused < self.size:
            return False
        before = self.size
        over = self._refused > TOLERATED * (self._answered + self._refused)
        self.size = max(1, int(before * CUT)) if over else min(self._ceiling, before + 1)
        self._answered = self._refused = 0
        self.epoch += self.size != before
        return self.size != before
