"""Which tasks an expression means.

An expression is a comma list. A part is a name or glob (``cons_*``, ``suite/task``), or ``@word`` for a suite, topic,
mode, kind or group; ``a+b`` means the tasks that are both; ``!a`` leaves tasks out.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from hbench.core import SelectionError

if TYPE_CHECKING:
    from hbench.spec.index import TaskEntry, TaskIndex


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
    """
    texts = [expressions] if isinstance(expressions, str) else list(expressions)
    parts = [part for text in texts for raw in text.split(",") if (part := raw.strip())]
    if not parts:
        raise SelectionError("no tasks are named", hint="name some, as in --tasks 'cons_*' (see `hbench ls tasks`)")
    wanted = [part for part in parts if not part.startswith("!")]
    chosen: dict[str, TaskEntry] = {}
    for part in wanted or ["*"]:
        chosen |= {entry.name: entry for entry in _meant(index, part)}
    for part in parts:
        if part.startswith("!"):
            for entry in _meant(index, part[1:]):
                chosen.pop(entry.name, None)
    if not chosen:
        raise SelectionError(f"{','.join(parts)!r} leaves no task", hint="its exclusions take everything away")
    for name in sorted(chosen):
        if name in index.clashes:
            from hbench.spec.index import clash

            raise clash(name, index.clashes[name])
    return [chosen[name] for name in sorted(chosen)]


def near_misses(index: TaskIndex, name: str) -> str:
    """Return a hint: the nearest names and words, or where to look."""
    known = {entry.task for entry in index.entries} | {entry.name for entry in index.entries}
    known |= {f"@{word}" for entry in index.entries for word in entry.words}
    near = difflib.get_close_matches(name, sorted(known), 3, cutoff=0.5)
    hint = f"did you mean {', '.join(map(repr, near))}?" if near else "see `hbench ls tasks`"
    if index.broken:
        hint += f" ({len(index.broken)} files could not be read: `hbench ls tasks` names them)"
    return hint


def _meant(index: TaskIndex, part: str) -> list[TaskEntry]:
    found = index.entries
    for term in filter(None, (term.strip() for term in part.split("+"))):
        matching = [entry for entry in index.entries if _matches(entry, term)]
        if not matching:
            raise SelectionError(f"no task matches {term!r}", hint=near_misses(index, term.rstrip("*")))
        if _is_bare_name(term) and len({entry.name for entry in matching}) > 1:
            index.get(term)  # raises, listing the candidates
        names = {id(entry) for entry in matching}
        found = [entry for entry in found if id(entry) in names]
    if not found:
        raise SelectionError(f"no task is all of {part!r}", hint="`+` keeps the tasks that match both sides")
    return found


def _is_bare_name(term: str) -> bool:
    return not term.startswith("@") and "/" not in term and not any(sign in term for sign in "*?[")


def _matches(entry: TaskEntry, term: str) -> bool:
    if term.startswith("@"):
        return any(fnmatchcase(word, term[1:]) for word in entry.words)
    return fnmatchcase(entry.name if "/" in term else entry.task, term)
