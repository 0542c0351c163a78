"""What a plugin says about its components."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from hbench.core import PluginError

KINDS = (
    "source",
    "demo",
    "table",
    "step",
    "split",
    "adapter",
    "parser",
    "metric",
    "aggregator",
    "baseline",
    "model",
    "model_adapter",
    "family",
    "executor",
    "leaderboard",
    "logger",
    "layout",
    "section",
    "expansion",
)
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True, slots=True)
class ComponentInfo:
    """A component's name and where it is.

    Attributes
    ----------
    kind, name : str
        What it is and what it is called.
    suite : str
        The plugin that brings it; its qualified name is ``suite/name``.
    target : str
        ``module:attribute``, imported on first use.
    distribution, version : str
        The installed package.
    """

    kind: str
    name: str
    suite: str
    target: str
    distribution: str = ""
    version: str = ""

    @property
    def qualified(self) -> str:
        """Return ``suite/name``."""
        return f"{self.suite}/{self.name}"


class Scope:
    """Collects the components of one plugin. Nothing counts until the whole plugin has registered."""

    def __init__(self, suite: str, distribution: str, version: str) -> None:
        self._suite, self._distribution, self._version = suite, distribution, version
        self._found: dict[tuple[str, str], ComponentInfo] = {}

    @property
    def components(self) -> tuple[ComponentInfo, ...]:
        """All components named so far."""
        return tuple(self._found.values())

    def add(self, kind: str, name: str, target: str) -> None:
        """Name a component.

        Parameters
        ----------
        kind : str
            One of `KINDS`.
        name : str
            Its name within the plugin.
        target : str
            ``module:attribute``.

        Raises
        ------
        PluginError
            An unknown kind, a malformed target, or a name that was given already.
        """
        if kind not in KINDS:
            near = difflib.get_close_matches(kind, KINDS, 1)
            raise PluginError(
                f"there is no kind of component called {kind!r}",
                hint=f"did you mean {near[0]!r}?" if near else f"kinds: {', '.join(KINDS)}",
            )
        if not _TARGET.fullmatch(target):
            raise PluginError(f"{kind} {name!r}: {target!r} is not of the form package.module:attribute")
        if (kind, name) in self._found:
            raise PluginError(f"the {kind} {name!r} is registered twice")
        self._found[kind, name] = ComponentInfo(kind, name, self._suite, target, self._distribution, self._version)
