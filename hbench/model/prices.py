"""What providers charge: a table of the user's own, since prices change faster than releases."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from hbench.core import ModelError
from hbench.model.limits import Prices

VARIABLE = "HBENCH_PRICES"
"""Environment variable: a YAML file of prices."""


def price_of(model: str, environ: Mapping[str, str] = os.environ) -> Prices | None:
    """Return a model's prices by the user's table; None where there is no table, or nothing in it about the model.

    The file that the variable names has a line for each model, or for several by a pattern; the first that fits
    counts::

        # US dollars per million tokens
        gpt-large: {in: 1.25, out: 10}
        "gpt-*": {in: 0.25, out: 2}

    Raises
    ------
    ModelError
        The file cannot be read, or a price is no number of at least 0.
    """
    named = environ.get(VARIABLE)
    if not named:
        return None
    path = Path(named).expanduser()
    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ModelError(f"the table of prices cannot be read: {error}", file=path) from error
    if not isinstance(table, dict):
        raise ModelError("the table of prices is no mapping from models to prices", file=path)
    for pattern, prices in table.items():
        if fnmatchcase(model, str(pattern)):
            return _prices(str(pattern), prices, path)
    return None


def _prices(pattern: str, prices: object, path: Path) -> Prices:
    if isinstance(prices, dict) and set(prices) == {"in", "out"}:
        numbers = [prices["in"], prices["out"]]
        if all(isinstance(n, int | float) and not isinstance(n, bool) and 0 <= n < float("inf") for n in numbers):
            return Prices(float(numbers[0]), float(numbers[1]))
    raise ModelError(
        f"the prices of {pattern!r} must be {{in: NUMBER, out: NUMBER}}, in US dollars per million tokens", file=path
    )
