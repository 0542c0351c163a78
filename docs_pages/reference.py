"""The Python reference: what each package exports, in its own order."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

PACKAGES = (
    "core", "spec", "plugin", "execute", "data", "prompt", "parse", "metric", "learn", "model", "run", "stat", "ess",
    "report", "interop", "testing",
)  # fmt: skip


def reference_pages() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page, the overview first."""
    packages = [import_module(f"hbench.{name}") for name in PACKAGES]
    yield "api/index.md", _overview(packages)
    for name, package in zip(PACKAGES, packages, strict=True):
        yield f"api/{name}.md", _page(package)


def _overview(packages: list[ModuleType]) -> str:
    lines = [
        "# Python reference",
        "",
        "Public is what a package exports in `__all__`; these names follow the version's promise.",
        "",
        "| package | |",
        "|---|---|",
    ]
    for package in packages:
        name = package.__name__
        lines.append(f"| [`{name}`]({name.rpartition('.')[2]}.md) | {_first_line(package)} |")
    lines += ["", "## hbench.evaluate", "", "::: hbench.evaluate", "    options:", "      heading_level: 3", ""]
    return "\n".join(lines)


def _page(package: ModuleType) -> str:
    lines = [f"# {package.__name__}", "", _first_line(package), ""]
    for name in package.__all__:
        lines += [f"::: {package.__name__}.{name}", ""]
    return "\n".join(lines)


def _first_line(package: ModuleType) -> str:
    return (package.__doc__ or "").partition("\n")[0]
