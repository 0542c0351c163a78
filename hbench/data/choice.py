"""What the user says with ``--data``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hbench.core import DataError

KINDS = ("demo", "build", "hub", "package")
"""Kinds that a user may name; a folder in a released layout is given by its path."""
_SUITE = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DataChoice:
    """One ``--data [SUITE=]KIND`` or ``--data [SUITE=]FOLDER``.

    Attributes
    ----------
    value : str
        ``demo`` (synthetic microdata), ``build`` (from raw files), ``hub`` (released sets), ``package`` (real data that
        an installed package carries), or a folder.
    suite : str or None
        The suite it is meant for; None for all.
    """

    value: str
    suite: str | None = None

    @classmethod
    def parse(cls, text: str) -> DataChoice:
        """Read the option's text.

        Raises
        ------
        DataError
            It is neither a kind nor an existing folder.
        """
        match = None if Path(text).is_dir() else _SUITE.fullmatch(text)
        suite, value = match.groups() if match else (None, text)
        if value not in KINDS and not Path(value).expanduser().is_dir():
            raise DataError(
                f"{value!r} is neither a data kind nor an existing folder",
                hint=f"Kinds: {', '.join(KINDS)}. A kind for one suite only: SUITE=KIND.",
            )
        return cls(value, suite)

    @property
    def folder(self) -> Path | None:
        """The folder, or None for a kind."""
        return None if self.value in KINDS else Path(self.value).expanduser().resolve()


def choose(choices: Sequence[DataChoice], suite: str, *, default: str) -> DataChoice:
    """Return the choice that holds for a suite: the last one that names it, else the last for all, else its default."""
    for wanted in (suite, None):
        for choice in reversed(choices):
            if choice.suite == wanted:
                return choice
    return DataChoice(default)
