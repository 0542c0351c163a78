"""When to stop asking a server that will not answer."""

from __future__ import annotations

import time
from collections.abc import Callable

from hbench.core import ModelError

KEEPS = "answers so far are kept; the same command goes on from there"
REFUSALS_IN_A_ROW = 16


class Health:
    """Counts answers, refusals and troubles, and raises `ModelError` when no further answer is to be had.

    Parameters
    ----------
    name : str
        The model as the user named it.
    patience : float
        Seconds without any answer after which a server in trouble is given up.
    many : int
        Troubles in a row without which a server that does respond is not given up.
    """

    def __init__(
        self, name: str, *, patience: float, many: int = 20, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._patience = patience
        self._many = many
        self._clock = clock
        self._answers = 0
        self._refusals = 0
        self._troubles = 0
        self._unreachable = 0
        self._since = 0.0

    @property
    def reachable(self) -> bool:
        """False while connections fail."""
        return self._unreachable == 0

    def answered(self) -> None:
        """Note an answer: all is well."""
        self._answers += 1
        self._refusals = self._troubles = self._unreachable = 0

    def refused(self, status: int, url: str, message: str, *, hopeless: bool = False) -> None:
        """Note a refusal that another try would not change.

        A bad key or an unknown model ends it at once, unless answers came before: then three in a row do, since some
        providers refuse single prompts with the same status. Where the server refuses everything from the start, it
        ends after sixteen.
        """
        self._refusals += 1
        self._troubles = self._unreachable = 0
        about_key = status in (401, 403)
        stop = hopeless or status == 401
        stop = stop or (status in (403, 404) and (self._answers == 0 or self._refusals >= 3))
        if not stop and (self._answers or self._refusals < REFUSALS_IN_A_ROW):
            return
        hint = KEEPS
        if about_key:
            hint = f"check the provider's key in the environment, or the one that key_env=NAME names; {KEEPS}"
        elif status == 404:
            hint = f"check the model's name and base_url; {KEEPS}"
        what = "refuses" if stop else "refuses every request"
        raise ModelError(f"model {self._name}: {url} {what} (HTTP {status}): {message}", hint=hint)

    def trouble(self, url: str, what: str, *, reached: bool) -> None:
        """Note an attempt that failed but may succeed later."""
        if not self._troubles:
            self._since = self._clock()
        self._troubles += 1
        self._unreachable = 0 if reached else self._unreachable + 1
        # Who never answered is more likely misspelt than restarting.
        patience = self._patience if self._answers or reached else self._patience / 3
        silent = self._clock() - self._since
        if silent < patience or self._troubles < (self._many if reached else 3):
            return
        state = "gives no usable answer" if reached else "cannot be reached"
        raise ModelError(
            f"model {self._name}: {url} {state} for {silent:.0f} s ({self._troubles} attempts; last: {what})",
            hint=f"check that the server is up and that base_url is right; {KEEPS}",
        )
