"""What a power cut leaves of a folder: what was synced, and by chance some of what was not.

The strictest reading of POSIX: a file keeps the content that it had when it was last synced, and a folder the entries
that it had when the folder itself was last synced. File systems keep more than that, in an order of their own.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class _Entry:
    number: int
    folder: bool
    name: str


def remember(root: Path, shadow: Path) -> None:
    """Take all that is in `root` for synced."""
    shadow.mkdir()
    for path in [root, *root.rglob("*")]:
        number = path.stat().st_ino
        if path.is_dir():
            lines = (f"{one.number} {'d' if one.folder else 'f'} {one.name}\n" for one in _entries(path))
            (shadow / f"folder-{number}").write_text("".join(lines))
        else:
            shutil.copyfile(path, shadow / f"file-{number}")
            (shadow / f"keep-{number}").hardlink_to(path)


def rebuild(root: Path, shadow: Path, *, seed: int) -> None:
    """Make of `root` what a power cut leaves; an even seed: nothing that was not synced, an odd one: some of it."""
    chance = random.Random(seed) if seed % 2 else None
    living = {path.stat().st_ino: path for path in [root, *root.rglob("*")]}
    tree: dict[str, bytes | None] = {}

    def lucky() -> bool:
        return chance is not None and chance.random() < 0.5

    def walk(number: int, inside: str) -> None:
        synced, alive = shadow / f"folder-{number}", living.get(number)
        before = _read(synced) if synced.exists() else []
        for entry in _entries(alive) if alive is not None and lucky() else before:
            name = os.path.join(inside, entry.name)  # noqa: PTH118 - relative, and empty at the root
            tree[name] = None if entry.folder else content(entry.number)
            if entry.folder:
                walk(entry.number, name)

    def content(number: int) -> bytes:
        synced, alive = shadow / f"file-{number}", living.get(number)
        if alive is not None and chance is not None and lucky():
            written = alive.read_bytes()
            # Of what was written last, any part may be there.
            least = min(synced.stat().st_size, len(written)) if synced.exists() else 0
            return written[: chance.randint(least, len(written))]
        return synced.read_bytes() if synced.exists() else b""

    walk(root.stat().st_ino, "")
    for path in root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, written in sorted(tree.items()):
        if written is None:
            (root / name).mkdir()
        else:
            (root / name).write_bytes(written)


def _entries(folder: Path) -> list[_Entry]:
    found = ((path, path.lstat()) for path in sorted(folder.iterdir()))
    return [_Entry(about.st_ino, path.is_dir(), path.name) for path, about in found]


def _read(listing: Path) -> list[_Entry]:
    parts = (line.split(" ", 2) for line in listing.read_text().splitlines())
    return [_Entry(int(number), kind == "d", name) for number, kind, name in parts]
