"""`hbench plugins`: who brings what, and what does not work."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import Any

import click

from hbench.cli.table import show


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List plugins with what they bring; broken ones with the reason."""
    show_plugins(None, as_json=as_json)


def show_plugins(pattern: str | None, *, as_json: bool) -> None:
    """Print the plugins whose name contains or matches `pattern`."""
    rows = [row for row in plugin_rows() if pattern is None or fnmatchcase(row["name"], f"*{pattern}*")]
    if not as_json:
        for row in rows:
            row["components"] = ", ".join(
                f"{number} {kind}{'s' if number > 1 else ''}" for kind, number in row["components"].items()
            )
            row["load ms"] = f"{row['seconds'] * 1000:.1f}"
    columns = ("name", "distribution", "version", "status", "tasks", "components", "load ms", "error")
    show(rows, columns, as_json=as_json)


def plugin_rows() -> list[dict[str, Any]]:
    """Return one row a plugin, as JSON values."""
    from hbench.plugin import default_registry
    from hbench.spec import discover

    registry = default_registry()
    tasks = Counter((entry.distribution, entry.suite) for entry in discover().entries)
    components = registry.names()
    return [
        {
            "name": plugin.name,
            "distribution": plugin.distribution,
            "version": plugin.version,
            "status": plugin.status,
            "tasks": tasks[plugin.distribution, plugin.name],
            "components": dict(
                Counter(
                    info.kind
                    for info in components
                    if info.suite == plugin.name and info.distribution == plugin.distribution
                )
            ),
            "hooks": list(plugin.hooks),
            "seconds": round(plugin.seconds, 6),
            "error": plugin.error,
        }
        for plugin in registry.plugins
    ]
