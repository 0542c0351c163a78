"""Loads plugins one by one, so that one that fails takes nothing else down."""

from __future__ import annotations

import difflib
import os
import time
import traceback
from collections.abc import Collection, Iterable
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from hbench.core import PluginError
from hbench.plugin import hooks
from hbench.plugin.registry import BUILTIN, PluginInfo, Registry
from hbench.plugin.scope import ComponentInfo, Scope

GROUP = "hbench"
_PREFIX = "hbench_"
_API = "hbench_api"


def load_plugins(
    *, allow: Collection[str] | None = None, block: Collection[str] = (), strict: bool = False
) -> Registry:
    """Load all installed plugins.

    Parameters
    ----------
    allow : collection of str, optional
        Load these only (and the built-in components).
    block : collection of str
        Leave these out.
    strict : bool
        Raise at the first plugin that fails, instead of keeping it as broken.

    Returns
    -------
    Registry

    Raises
    ------
    PluginError
        With `strict`, or if `block` or `allow` names a plugin that is not installed.
    """
    found = _installed()
    names = {entry.name for entry in found}
    for wanted in (*block, *(allow or ())):
        if wanted not in names:
            near = difflib.get_close_matches(wanted, names, 1)
            raise PluginError(
                f"there is no plugin called {wanted!r}",
                hint=f"did you mean {near[0]!r}?" if near else f"installed: {', '.join(sorted(names))}",
            )
    components: list[ComponentInfo] = []
    plugins: list[PluginInfo] = []
    for entry in found:
        distribution, version = _origin(entry)
        loads = entry.name == BUILTIN or (entry.name not in block and (allow is None or entry.name in allow))
        if not loads:
            plugins.append(PluginInfo(entry.name, distribution, version, "disabled"))
            continue
        start = time.perf_counter()
        try:
            brought, implemented = _load(entry, distribution, version)
        except (Exception, SystemExit) as error:
            # A plugin is foreign code: whatever it raises must not take the others down.
            told = _told(error)
            if strict:
                raise PluginError(f"the plugin {entry.name!r} ({distribution} {version}) fails: {told}") from error
            plugins.append(PluginInfo(entry.name, distribution, version, "broken", told))
            continue
        components += brought
        plugins.append(
            PluginInfo(entry.name, distribution, version, "ok", hooks=implemented, seconds=time.perf_counter() - start)
        )
    return Registry(components, plugins)


@lru_cache(maxsize=1)
def default_registry() -> Registry:
    """Return the registry of this process, as the environment asks.

    ``HBENCH_PLUGINS=a,b`` loads these plugins only (none if empty); ``HBENCH_NO_PLUGINS=a,b`` leaves these out;
    ``HBENCH_STRICT_PLUGINS=1`` makes a broken plugin an error.
    """
    allow = os.environ.get("HBENCH_PLUGINS")
    return load_plugins(
        allow=None if allow is None else _listed(allow),
        block=_listed(os.environ.get("HBENCH_NO_PLUGINS", "")),
        strict=os.environ.get("HBENCH_STRICT_PLUGINS", "") not in ("", "0"),
    )


def plugin_modules(registry: Registry, hook: str) -> Iterable[tuple[PluginInfo, Any]]:
    """Yield the modules of working plugins that implement a hook."""
    working = {plugin.name: plugin for plugin in registry.plugins if plugin.status == "ok" and hook in plugin.hooks}
    for entry in _installed():
        if entry.name in working:
            yield working[entry.name], entry.load()


def _installed() -> list[EntryPoint]:
    """Return the entry points, the built-in ones first, each distribution's once, in an order that does not vary."""
    unique = {(entry.name, entry.value, _origin(entry)[0]): entry for entry in entry_points(group=GROUP)}
    return sorted(unique.values(), key=lambda entry: (entry.name != BUILTIN, entry.name, _origin(entry)))


def _origin(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist is not None else ("", "")


def _told(error: BaseException) -> str:
    """Say what a plugin raised, and where."""
    if isinstance(error, PluginError):
        return str(error)
    text = f"{type(error).__name__}: {error}" if str(error).strip() else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    return f"{text} ({frames[-1].filename}:{frames[-1].lineno})" if frames else text


def _listed(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _load(entry: EntryPoint, distribution: str, version: str) -> tuple[tuple[ComponentInfo, ...], tuple[str, ...]]:
    module = entry.load()
    declared = getattr(module, _API, hooks.HOOK_API)
    if not isinstance(declared, int) or declared > hooks.HOOK_API:
        raise PluginError(f"it needs version {declared} of the plugin API; this hbench has version {hooks.HOOK_API}")
    # A manager of its own: a half-registered plugin leaves nothing behind.
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    _check_names(module)
    manager.register(module, name=entry.name)
    manager.check_pending()
    scope = Scope(entry.name, distribution, version)
    manager.hook.hbench_register(scope=scope)
    implemented = tuple(sorted(caller.name for caller in manager.get_hookcallers(module) or []))
    return scope.components, implemented


def _check_names(module: Any) -> None:
    """Refuse a misspelt hook, marked as one or not: left alone it would silently do nothing."""
    known = [name for name in vars(hooks) if name.startswith(_PREFIX)]
    for name, value in vars(module).items():
        looks_like_hook = name.startswith(_PREFIX) and name != _API and callable(value)
        marked = hasattr(value, f"{hooks.PROJECT}_impl") and callable(value)
        if (looks_like_hook or marked) and name not in known:
            near = difflib.get_close_matches(name, known, 1, cutoff=0.4)
            raise PluginError(f"there is no hook called {name!r}", hint=f"did you mean {near[0]!r}?" if near else None)
        if looks_like_hook and not marked:
            raise PluginError(f"{name} is not marked as a hook", hint="decorate it with hbench.plugin.hookimpl")
