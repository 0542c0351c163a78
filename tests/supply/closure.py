"""The packages that this project stands on: what its metadata ask for, and what those ask for, as installed here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.metadata import metadata as metadata_of

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "hbench"


@dataclass(frozen=True)
class Closure:
    """Dependencies of a project.

    Attributes
    ----------
    found : dict of str to Distribution
        By normalised name; the project itself is not among them.
    needed_by : dict of str to set of str
        The project's extras through which each is needed; ``core`` stands for none.
    absent : dict of str to set of str
        The same of those that are not installed here, so that nothing is known of them.
    """

    found: dict[str, Distribution] = field(default_factory=dict)
    needed_by: dict[str, set[str]] = field(default_factory=dict)
    absent: dict[str, set[str]] = field(default_factory=dict)


def closure(project: str = PROJECT, *, leave_out: Iterable[str] = ("all",)) -> Closure:
    """Return all dependencies of an installed project and of its extras; extras that only name others are left out."""
    extras = [extra for extra in metadata_of(project).get_all("Provides-Extra") or () if extra not in set(leave_out)]
    out = Closure()
    for extra in (None, *extras):
        _follow(project, {extra} if extra else set(), extra or "core", out)
    out.found.pop(canonicalize_name(project), None)
    return out


def _follow(root: str, extras: set[str], reason: str, out: Closure) -> None:
    waiting = [(canonicalize_name(root), frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            found = distribution(name)
        except PackageNotFoundError:
            out.absent.setdefault(name, set()).add(reason)
            continue
        out.found[name] = found
        out.needed_by.setdefault(name, set()).add(reason)
        for text in found.requires or ():
            need = Requirement(text)
            if _applies(need, wanted, at_root=name == canonicalize_name(root)):
                waiting.append((canonicalize_name(need.name), frozenset(need.extras)))


def _applies(need: Requirement, extras: Iterable[str], *, at_root: bool) -> bool:
    if need.marker is None:
        # What the core needs is followed once, as the core's.
        return not (at_root and list(extras))
    environments: list[Mapping[str, str]] = [{"extra": extra} for extra in extras] or [{"extra": ""}]
    return any(need.marker.evaluate(dict(environment)) for environment in environments)
