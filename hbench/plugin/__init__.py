"""Plugins: hooks, the loader, and the registry of named components."""

from __future__ import annotations

from hbench.plugin.hooks import HOOK_API, hookimpl
from hbench.plugin.loader import default_registry, load_plugins, plugin_modules
from hbench.plugin.registry import PluginInfo, Registry
from hbench.plugin.scope import KINDS, ComponentInfo, Scope

__all__ = [
    "HOOK_API",
    "KINDS",
    "ComponentInfo",
    "PluginInfo",
    "Registry",
    "Scope",
    "default_registry",
    "hookimpl",
    "load_plugins",
    "plugin_modules",
]
