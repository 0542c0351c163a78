"""`hbench plugins`: what is installed, and whether it works."""

from __future__ import annotations

from typing import Any

import click

from hbench.cli.options import as_json

COLUMNS = ("name", "distribution", "version", "status", "hooks", "components", "ms", "error")


@click.command("plugins")
@as_json
def command(as_json: bool) -> None:
    """List plugins and what they bring.

    A plugin that fails is broken and makes only those commands fail that need it. `hbench --no-plugin NAME ...` leaves
    one out, HBENCH_PLUGINS=a,b loads no others, and `hbench --strict-plugins ...` makes a broken one an error.
    """
    from hbench.cli.tables import show_rows

    show_rows(plugin_rows(), COLUMNS, as_json=as_json)


def plugin_rows() -> list[dict[str, Any]]:
    """Return all plugins, the broken and the disabled ones too, as JSON values."""
    from collections import Counter

    from hbench.plugin import default_registry

    registry = default_registry()
    brought = Counter((info.suite, info.distribution) for info in registry.names())
    return [
        {
            "name": plugin.name,
            "distribution": plugin.distribution,
            "version": plugin.version,
            "status": plugin.status,
            "hooks": plugin.hooks,
            "components": brought[plugin.name, plugin.distribution],
            "ms": round(plugin.seconds * 1000, 1),
            "error": plugin.error,
        }
        for plugin in registry.plugins
    ]
