"""How an HTTP back end is asked."""

from __future__ import annotations

from dataclasses import dataclass

from hbench.core import ModelError
from hbench.model.limits import Prices


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
    context : int or None
        Tokens of prompt and answer above which a request is not sent.
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
    context: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    batch_requests: int = 10_000
    batch_poll: float = 30.0
    batch_discount: float = 0.5
    prices: Prices | None = None
    max_cost: float | None = None


def no_prices(name: str) -> ModelError:
    """Make the error about a spend limit without prices."""
    return ModelError(
        f"model {name}: max_cost needs prices",
        hint="add price_in= and price_out=, in US dollars per million tokens, or a table of prices (HBENCH_PRICES)",
    )
