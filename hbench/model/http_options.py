"""What all HTTP back ends read from a model's words and the environment: addresses, keys, limits, prices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import urlsplit

from hbench.core import ModelError
from hbench.model.http_settings import HttpSettings, no_prices
from hbench.model.limits import Prices
from hbench.model.options import Options
from hbench.model.prices import price_of


def read_urls(read: Options, name: str, official: str) -> tuple[str, ...]:
    """Return the base URLs; the provider's own by default."""
    urls = read.texts("base_url") or (official,)
    for url in urls:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ModelError(f"model {name}: base_url={url!r} must begin with http:// or https://")
    return urls


def read_key(read: Options, name: str, urls: Sequence[str], *, official: str, variables: Sequence[str]) -> str | None:
    """Return the key from the environment: of the variable that ``key_env`` names, else of the provider's own.

    Raises
    ------
    ModelError
        The provider's own server is asked without a key, the named variable is not set, or an address holds a user too.
    """
    key = _key(read.text("key_env"), name, urls, official, variables)
    if key and any(urlsplit(url).username is not None for url in urls):
        # The address is not shown: it would put the password into terminals and logs.
        raise ModelError(
            f"model {name}: base_url holds a user, and there is a key too; a request can carry only one of them",
            hint="take the user out of base_url, or unset the key's environment variable",
        )
    return key


def _key(named: str | None, name: str, urls: Sequence[str], official: str, variables: Sequence[str]) -> str | None:
    if named is not None:
        key = os.environ.get(named)
        if not key:
            raise ModelError(f"model {name}: the environment variable {named} (key_env) is not set")
        return key
    key = next((value for variable in variables if (value := os.environ.get(variable))), None)
    if official in urls and key is None:
        raise ModelError(
            f"model {name}: the environment variable {variables[0]} is not set",
            hint="set it, or name another with key_env=NAME, or name another server with base_url=URL",
        )
    # A key that was not named for this server does not travel unencrypted.
    return key if all(_is_private(url) for url in urls) else None


def _is_private(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")


def read_http_settings(read: Options, name: str, urls: tuple[str, ...], *, path: str) -> HttpSettings:
    """Read the options that all HTTP back ends share; a `path` at the end of a base URL is taken off."""
    price_in, price_out = read.number("price_in"), read.number("price_out")
    listed = price_of(name.partition(":")[2])
    prices = listed if price_in is None and price_out is None else Prices(price_in or 0.0, price_out or 0.0)
    max_cost = read.number("max_cost")
    if max_cost is not None and (prices is None or (prices is not listed and None in (price_in, price_out))):
        raise no_prices(name)
    usual = HttpSettings(urls)
    adaptive = read.switch("adaptive")
    return HttpSettings(
        urls=tuple(url.removesuffix("/").removesuffix(path) for url in urls),
        concurrency=read.integer("concurrency", usual.concurrency),
        adaptive=usual.adaptive if adaptive is None else adaptive,
        attempts=read.integer("attempts", usual.attempts),
        timeout=read.number("timeout", usual.timeout, positive=True),
        patience=read.number("patience", usual.patience),
        max_wait=read.number("max_wait", usual.max_wait),
        max_body=read.integer("max_body", usual.max_body),
        context=read.integer("context", 0) or None,
        requests_per_minute=read.number("requests_per_minute", positive=True),
        tokens_per_minute=read.number("tokens_per_minute", positive=True),
        batch_requests=read.integer("batch_requests", usual.batch_requests),
        batch_poll=read.number("batch_poll", usual.batch_poll, positive=True),
        batch_discount=_share(read, "batch_discount", usual.batch_discount, name),
        prices=prices,
        max_cost=max_cost,
    )


def _share(read: Options, option: str, usual: float, name: str) -> float:
    share = read.number(option, usual)
    if share > 1:
        raise ModelError(f"model {name}: the option {option}={share:g} must be a share between 0 and 1")
    return share
