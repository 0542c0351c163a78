"""The hooks that a plugin may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from hbench.plugin.scope import Scope

PROJECT = "hbench"
HOOK_API = 1
"""Version of the hooks. A plugin module that declares a newer one in ``hbench_api`` is refused."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin module as the implementation of the hook of its name."""


@hookspec
def hbench_register(scope: Scope) -> None:
    """Name the plugin's components, as in ``scope.add("source", "my_survey", "my_package.source:MySurvey")``.

    .. versionadded:: 0.1
    """


@hookspec
def hbench_commands(group: Any) -> None:
    """Add commands to the command line (`group` is its `click.Group`).

    .. versionadded:: 0.1
    """
