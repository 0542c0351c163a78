"""Where the suites' YAML files are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from hbench.core import SelectionError

GROUP = "hbench.tasks"
PATH_VARIABLE = "HBENCH_TASK_PATH"


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of task files, and who brings it.

    Attributes
    ----------
    folder : Path
        The folder.
    suite : str
        Name of the entry point; for a folder that the user names, the folder's.
    distribution, version : str
        The installed package; empty for folders that the user names.
    problem : str
        Why an installed suite's folder cannot be found.
    """

    folder: Path
    suite: str
    distribution: str = ""
    version: str = ""
    problem: str = ""


def roots(include_paths: Sequence[Path], environ: Mapping[str, str]) -> list[Root]:
    """Return all folders: installed suites by name, then ``HBENCH_TASK_PATH``, then `include_paths`.

    Raises
    ------
    SelectionError
        A folder that the user names does not exist.
    """
    found = [root for root in installed_roots() if _wanted(root.suite, environ)]
    named = [Path(part) for part in environ.get(PATH_VARIABLE, "").split(os.pathsep) if part]
    for origin, folders in ((PATH_VARIABLE, named), ("--include-path", include_paths)):
        for folder in folders:
            if not folder.is_dir():
                raise SelectionError(f"{origin}: there is no folder {str(folder)!r}", hint="Name an existing folder.")
            found.append(Root(folder.resolve(), folder.resolve().name))
    return list({root.folder: root for root in reversed(found)}.values())[::-1]


def _wanted(suite: str, environ: Mapping[str, str]) -> bool:
    """Tell whether the user's choice of plugins leaves a suite in."""
    allowed = environ.get("HBENCH_PLUGINS")
    left_out = environ.get("HBENCH_NO_PLUGINS", "").split(",")
    return suite not in left_out and (allowed is None or suite in [name.strip() for name in allowed.split(",")])


@lru_cache(maxsize=1)
def installed_roots() -> tuple[Root, ...]:
    """Return the folders of installed suites. No package is imported: the top-level one is only located."""
    found: dict[tuple[str, str], Root] = {}
    for entry in entry_points(group=GROUP):
        name, version = (entry.dist.name, entry.dist.version) if entry.dist is not None else ("", "")
        found[entry.name, entry.value] = _locate(entry.name, entry.value, name, version)
    return tuple(found[key] for key in sorted(found))


def _locate(suite: str, package: str, distribution: str, version: str) -> Root:
    top, *below = package.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError) as error:
        return Root(Path(package), suite, distribution, version, f"the package {top!r} cannot be located: {error}")
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec is not None else []
    for place in places:
        # An installed suite carries its files; a checkout keeps them beside the code.
        for folder in (place.joinpath(*below, "tasks"), place.parent.parent / "task_yamls" / suite):
            if folder.is_dir():
                return Root(folder.resolve(), suite, distribution, version)
    return Root(Path(package), suite, distribution, version, f"the package {package!r} has no folder `tasks`")
