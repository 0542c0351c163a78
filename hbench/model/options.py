"""Reading options with their types, and naming the nearest valid one where a name is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import overload

from hbench.core import JsonValue, ModelError, Sampling

SAMPLING_NAMES = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "max_tokens",
    "seed",
    "stop",
    "reasoning_effort",
    "extra",
)
"""Generation settings that every generative model understands; `extra` is a JSON object passed on as it is."""


class Options:
    """A model's options, each asked for once by name and type.

    Parameters
    ----------
    model : str
        The model's name, for messages.
    given : mapping
        What the user wrote.

    Notes
    -----
    `finish` refuses what nobody asked for, so the valid names need no second list.
    """

    def __init__(self, model: str, given: Mapping[str, JsonValue]) -> None:
        self._model = model
        self._given = dict(given)
        self._asked: set[str] = set()

    @overload
    def text(self, name: str, default: str) -> str: ...
    @overload
    def text(self, name: str, default: None = None) -> str | None: ...
    def text(self, name: str, default: str | None = None) -> str | None:
        """Return a text; whole numbers are taken as their digits."""
        value = self._take(name)
        if value is None:
            return default
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
        raise self._wrong(name, value, f'text; quote it: {name}="{value}"')

    def choice(self, name: str, default: str, choices: Collection[str]) -> str:
        """Return one of the words in `choices`."""
        value = self.text(name, default)
        if value not in choices:
            raise self._wrong(name, value, f"one of {', '.join(choices)}")
        return value

    @overload
    def number(self, name: str, default: float, *, least: float = 0.0, positive: bool = False) -> float: ...
    @overload
    def number(
        self, name: str, default: None = None, *, least: float = 0.0, positive: bool = False
    ) -> float | None: ...
    def number(
        self, name: str, default: float | None = None, *, least: float = 0.0, positive: bool = False
    ) -> float | None:
        """Return a finite number that is at least `least`, above zero if `positive`."""
        value = self._take(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, value, "a number")
        if not least <= value < float("inf") or (positive and value <= 0):
            raise self._wrong(name, value, "a number above 0" if positive else f"a number of at least {least:g}")
        return float(value)

    def integer(self, name: str, default: int, *, least: int = 1) -> int:
        """Return a whole number that is at least `least`."""
        value = self._take(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self._wrong(name, value, f"a whole number of at least {least}")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false; absent means false."""
        value = self._take(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        raise self._wrong(name, value, "true or false")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a text or a list of texts as a tuple."""
        value = self._take(name)
        if value is None:
            return ()
        items = value if isinstance(value, list) else [value]
        if not items or not all(isinstance(item, str) and item for item in items):
            raise self._wrong(name, value, "a text or a list of texts")
        return tuple(items)

    def switch(self, name: str) -> bool | None:
        """Return true or false; None where nothing is said."""
        value = self._take(name)
        if value is None or isinstance(value, bool):
            return value
        raise self._wrong(name, value, "true or false")

    def mapping(self, name: str) -> dict[str, JsonValue]:
        """Return a JSON object."""
        value = self._take(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(name, value, 'a JSON object, as {"key": 1}')
        return value

    def rest(self) -> dict[str, JsonValue]:
        """Return all options not yet asked for, for back ends that pass them on."""
        return {name: value for name, value in self._given.items() if name not in self._asked}

    def finish(self, *, sampling: bool = True) -> None:
        """Refuse options that the model does not have; `sampling`: generation settings are among those it has."""
        for name in self._given:
            if name not in self._asked:
                raise unknown_option(self._model, name, self._asked, sampling=sampling)

    def _take(self, name: str) -> JsonValue:
        self._asked.add(name)
        return self._given.get(name)

    def _wrong(self, name: str, value: JsonValue, expected: str) -> ModelError:
        return ModelError(f"model {self._model}: the option {name}={value!r} must be {expected}")


def unknown_option(model: str, name: str, valid: Collection[str], *, sampling: bool = True) -> ModelError:
    """Make the error that names the nearest valid option."""
    words = sorted({*valid, "label", *(SAMPLING_NAMES if sampling else ())})
    near = difflib.get_close_matches(name, words, n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return ModelError(f"model {model} has no option {name!r}{meant}", hint=f"options: {', '.join(words)}")


def read_sampling(given: Mapping[str, JsonValue], *, model: str) -> Sampling:
    """Check generation settings and return them; what is absent stays with the provider."""
    options = Options(model, given)
    top_k = None if "top_k" not in given else options.integer("top_k", 0, least=-1)
    max_tokens = None if "max_tokens" not in given else options.integer("max_tokens", 1)
    seed = None if "seed" not in given else options.integer("seed", 0, least=0)
    extra = given.get("extra", {})
    if not isinstance(extra, dict):
        raise ModelError(f"model {model}: the option extra={extra!r} must be a JSON object")
    return Sampling(
        temperature=options.number("temperature"),
        top_p=options.number("top_p"),
        top_k=top_k,
        min_p=options.number("min_p"),
        max_tokens=max_tokens,
        seed=seed,
        stop=options.texts("stop"),
        reasoning_effort=options.text("reasoning_effort"),
        extra=extra,
    )
