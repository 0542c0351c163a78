"""Which tasks an expression means.

An expression is a comma list. A part is a name or glob (``cons_*``, ``suite/task``), or ``@word`` for a suite, topic,
mode, kind or group; ``a+b`` means the tasks that are both; ``!a`` leaves tasks out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from hbench.core import SelectionError
from hbench.spec.entry import BrokenFile, TaskEntry
from hbench.spec.nearest import nearest

if TYPE_CHECKING:
    from hbench.spec.index import TaskIndex


def select(index: TaskIndex, expressions: str | Sequence[str]) -> list[TaskEntry]:
    """Return the tasks that expressions mean, each once, by suite and name.

    Parameters
    ----------
    index : TaskIndex
        All tasks.
    expressions : str or sequence of str
        As the module says. Only exclusions: all others.

    Raises
    ------
    SelectionError
        A part means no task at all, nothing is left, a bare name means tasks of several suites, or a selected name is
        claimed by several files.
    SpecError
        A selected file is no task.
    """
    texts = [expressions] if isinstance(expressions, str) else list(expressions)
    parts = [part for text in texts for raw in text.split(",") if (part := raw.strip())]
    if not parts:
        raise SelectionError("no tasks are named", hint="Name some, as in --tasks 'cons_*' (see `hbench ls tasks`).")
    wanted = [part for part in parts if not part.startswith("!")]
    chosen: dict[str, TaskEntry | BrokenFile] = {}
    for part in wanted or ["*"]:
        chosen |= {item.name: item for item in _meant(index, part)}
    for part in parts:
        if part.startswith("!"):
            for item in _meant(index, part[1:]):
                chosen.pop(item.name, None)
    if not chosen:
        raise SelectionError(f"{','.join(parts)!r} leaves no task", hint="Its exclusions take everything away.")
    return [_usable(index, chosen[name]) for name in sorted(chosen)]


def matching(index: TaskIndex, pattern: str) -> tuple[list[TaskEntry], list[BrokenFile]]:
    """Return tasks and broken files for a listing: as `select`, but a listing shows what cannot be used, too."""
    parts = [part for raw in pattern.split(",") if (part := raw.strip())]
    wanted = [part for part in parts if not part.startswith("!")] or ["*"]
    shown = {id(item) for part in wanted for item in _meant(index, part, listing=True)}
    shown -= {id(item) for part in parts if part.startswith("!") for item in _meant(index, part[1:], listing=True)}
    return [entry for entry in index.entries if id(entry) in shown], [f for f in index.broken if id(f) in shown]


def _usable(index: TaskIndex, item: TaskEntry | BrokenFile) -> TaskEntry:
    if isinstance(item, BrokenFile):
        error = item.error()
        error.hint = f"{error.hint or ''} Leave it out with '!{item.name}'.".lstrip()
        raise error
    index.unclaimed(item.name)
    return item


def near_misses(index: TaskIndex, name: str) -> str:
    """Return a hint: the nearest names and words, or where to look."""
    known = {entry.task for entry in index.entries} | {entry.name for entry in index.entries}
    known |= {f"@{word}" for entry in index.entries for word in entry.words}
    near = nearest(name, sorted(known), count=3, cutoff=0.5)
    hint = f"Did you mean {', '.join(map(repr, near))}?" if near else "See `hbench ls tasks`."
    if index.broken:
        hint += f" ({len(index.broken)} files are no tasks: `hbench ls tasks` names them.)"
    return hint


def _meant(index: TaskIndex, part: str, *, listing: bool = False) -> list[TaskEntry | BrokenFile]:
    everything: list[TaskEntry | BrokenFile] = [*index.entries, *index.broken]
    found = everything
    for term in (term.strip() for term in part.split("+")):
        if not term:
            raise SelectionError(
                f"{part!r} names nothing on one side of `+`", hint="`@a+@b` means tasks that are both."
            )
        matches = [item for item in everything if _matches(item, term)]
        if not matches:
            raise SelectionError(f"no task matches {term!r}", hint=near_misses(index, term.rstrip("*")))
        if _is_bare_name(term) and not listing and len({item.name for item in matches}) > 1:
            index.get(term)  # raises, listing the candidates
        kept = {id(item) for item in matches}
        found = [item for item in found if id(item) in kept]
    if not found:
        raise SelectionError(f"no task is all of {part!r}", hint="`+` keeps the tasks that match both sides.")
    return found


def _is_bare_name(term: str) -> bool:
    return not term.startswith("@") and "/" not in term and not any(sign in term for sign in "*?[")


def _matches(item: TaskEntry | BrokenFile, term: str) -> bool:
    if term.startswith("@"):
        return any(fnmatchcase(word, term[1:]) for word in item.words)
    return fnmatchcase(item.name if "/" in term else item.task, term)
