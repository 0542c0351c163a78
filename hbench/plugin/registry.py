"""All components of all plugins, imported when first used."""

from __future__ import annotations

import difflib
import importlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hbench.core import PluginError
from hbench.plugin.scope import ComponentInfo

BUILTIN = "hbench"
"""The plugin that brings what every suite may use."""


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """An installed plugin, whether or not it works.

    Attributes
    ----------
    name : str
        Its entry point's name.
    distribution, version : str
        The installed package.
    status : {"ok", "broken", "disabled"}
        ``disabled`` by the user.
    error : str
        Why it is broken.
    hooks : tuple of str
        The hooks that it implements.
    seconds : float
        Time that loading took.
    """

    name: str
    distribution: str
    version: str
    status: Literal["ok", "broken", "disabled"]
    error: str = ""
    hooks: tuple[str, ...] = ()
    seconds: float = 0.0


class Registry:
    """Finds components by kind and name."""

    def __init__(self, components: Iterable[ComponentInfo], plugins: Sequence[PluginInfo] = ()) -> None:
        self.plugins = tuple(plugins)
        self._by_name: dict[tuple[str, str], list[ComponentInfo]] = defaultdict(list)
        for info in components:
            self._by_name[info.kind, info.name].append(info)
        self._imported: dict[ComponentInfo, Any] = {}

    def names(self, kind: str | None = None) -> list[ComponentInfo]:
        """Return the components of a kind (or of all), built-in ones first, by name."""
        found = [info for infos in self._by_name.values() for info in infos if kind in (None, info.kind)]
        return sorted(found, key=lambda info: (info.suite != BUILTIN, info.suite, info.kind, info.name))

    def find(self, kind: str, name: str, *, suite: str | None = None) -> ComponentInfo:
        """Return where a component is, without importing it.

        Parameters
        ----------
        kind : str
            What is looked for.
        name : str
            Bare, or qualified as ``suite/name``.
        suite : str, optional
            The suite that asks. A bare name means its own component, else the built-in one, else the only one.

        Raises
        ------
        PluginError
            There is none, or more than one; the message lists what there is.
        """
        qualifier, _, bare = name.rpartition("/")
        candidates = self._by_name.get((kind, bare), [])
        tiers = [qualifier] if qualifier else [suite, BUILTIN]
        for tier in tiers:
            own = [info for info in candidates if info.suite == tier]
            if own:
                return self._only(own, kind, name)
        if qualifier or not candidates:
            raise self._unknown(kind, name)
        return self._only(candidates, kind, name)

    def get(self, kind: str, name: str, *, suite: str | None = None) -> Any:
        """Return a component, imported on first use. Raises `PluginError` as `find`, or if the import fails."""
        info = self.find(kind, name, suite=suite)
        if info not in self._imported:
            self._imported[info] = _import(info)
        return self._imported[info]

    def _only(self, candidates: list[ComponentInfo], kind: str, name: str) -> ComponentInfo:
        if len(candidates) == 1:
            return candidates[0]
        listed = ", ".join(f"{info.qualified} ({info.distribution} {info.version})" for info in candidates)
        same = len({info.suite for info in candidates}) == 1
        raise PluginError(
            f"several plugins bring the {kind} {name!r}: {listed}",
            hint="uninstall or disable (--no-plugin) one of them" if same else "use the qualified name",
        )

    def _unknown(self, kind: str, name: str) -> PluginError:
        known = [info.name for info in self.names(kind)] + [info.qualified for info in self.names(kind)]
        near = difflib.get_close_matches(name, known, 1)
        broken = [plugin for plugin in self.plugins if plugin.status == "broken"]
        there = ", ".join(info.name if info.suite == BUILTIN else info.qualified for info in self.names(kind))
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {there or 'none'}"
        if broken:
            hint += (
                f"\n  broken plugins that might bring it: {', '.join(p.name for p in broken)} (see `hbench plugins`)"
            )
        return PluginError(f"there is no {kind} called {name!r}", hint=hint)


def _import(info: ComponentInfo) -> Any:
    module, _, attribute = info.target.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        # Foreign code may raise anything while it is imported.
        raise PluginError(
            f"the {info.kind} {info.qualified!r} cannot be imported from {info.target}: "
            f"{type(error).__name__}: {error}",
            hint=f"it is part of {info.distribution or 'an unknown package'} {info.version}".rstrip(),
        ) from error
    return found
