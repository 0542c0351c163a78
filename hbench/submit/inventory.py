"""What lies in a submission's folder: only what belongs there, and nothing that leads elsewhere."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO

from hbench.run.scrub import scrub
from hbench.submit.refusal import Refusal

ABOUT = "submission.json"
LARGEST = 256 * 2**20
"""Bytes of a file."""
LARGEST_TOGETHER = 2**30
MOST = 10_000
"""Files and folders."""
_RUN = re.compile(
    r"manifest\.json|scores\.json|journal\.sqlite|run\.lock|fits/[^/]+\.json|predictions/[^/]+/[^/]+__[^/]+\.jsonl"
)
_ROOT = re.compile(r"README\.md|submission\.json")
_SCANNED = (".json", ".jsonl", ".md")
_LINE = 2**24
"""Bytes of a line that are looked at together."""


@dataclass(frozen=True)
class Inventory:
    """The files of a submission.

    Attributes
    ----------
    files : mapping
        Path of each file by its name within the folder, with slashes.
    runs : tuple of str
        Names of the run folders; ``""`` where the submission is one itself.
    """

    files: Mapping[str, Path]
    runs: tuple[str, ...]

    def of(self, run: str) -> dict[str, Path]:
        """Return the files of a run by their names within it."""
        start = f"{run}/" if run else ""
        return {name.removeprefix(start): path for name, path in self.files.items() if name.startswith(start)}

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of every file but the locks, by name."""
        out = {}
        for name, path in sorted(self.files.items()):
            if not name.endswith("run.lock"):
                with path.open("rb") as stream:
                    out[name] = file_digest(stream, "sha256").hexdigest()
        return out


def take_inventory(folder: Path) -> tuple[Inventory, list[Refusal]]:
    """Walk a folder without following anything, and say what does not belong there."""
    files: dict[str, Path] = {}
    refusals: list[Refusal] = []
    total = 0
    for count, (name, path, status) in enumerate(_walk(folder, "")):
        if count >= MOST:
            refusals.append(Refusal("too_large", "", f"there are more than {MOST:,} files and folders"))
            break
        mode = status.st_mode
        if stat.S_ISLNK(mode):
            refusals.append(Refusal("symlink", name, "a link leads out of the submission"))
        elif stat.S_ISREG(mode) and status.st_nlink > 1:
            refusals.append(Refusal("symlink", name, "the file has a second name elsewhere (a hard link)"))
        elif stat.S_ISREG(mode):
            if status.st_size > LARGEST:
                refusals.append(Refusal("too_large", name, f"{status.st_size:,} bytes; at most {LARGEST:,} are read"))
            total += status.st_size
            files[name] = path
        elif not stat.S_ISDIR(mode):
            refusals.append(Refusal("special_file", name, "it is neither a file nor a folder"))
    if total > LARGEST_TOGETHER:
        refusals.append(Refusal("too_large", "", f"{total:,} bytes together; at most {LARGEST_TOGETHER:,} are read"))
    runs = tuple(sorted(name.rpartition("/")[0] for name in files if name.rpartition("/")[2] == "manifest.json"))
    refusals += [Refusal("foreign_file", name, _told(name)) for name in sorted(files) if not _belongs(name, runs)]
    if not runs:
        refusals.append(Refusal("no_run", "", "there is no run: no folder with a manifest.json"))
    return Inventory(files, runs), refusals


def find_secrets(inventory: Inventory) -> Iterator[Refusal]:
    """Yield the first line of each text file that holds what looks like a key, a password or a token."""
    for name, path in sorted(inventory.files.items()):
        if path.suffix not in _SCANNED:
            continue
        with path.open("rb") as stream:
            for number, raw in enumerate(_lines(stream), 1):
                text = raw.decode(errors="replace")
                if scrub(text, {}) != text:
                    yield Refusal("secret", f"{name}:{number}", "there is what looks like a key or a password")
                    break


def _walk(folder: Path, start: str) -> Iterator[tuple[str, Path, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            name = f"{start}{entry.name}"
            status = entry.stat(follow_symlinks=False)
            yield name, Path(entry.path), status
            if stat.S_ISDIR(status.st_mode):
                yield from _walk(Path(entry.path), f"{name}/")


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while line := stream.readline(_LINE):
        yield line


def _told(name: str) -> str:
    if name.endswith(("journal.sqlite-wal", "journal.sqlite-shm")):
        return "the journal was not closed; `hbench rescore RUN` closes it"
    return "it is no part of a run's results"


def _belongs(name: str, runs: tuple[str, ...]) -> bool:
    if _ROOT.fullmatch(name):
        return True
    within = [name.removeprefix(f"{run}/" if run else "") for run in runs if not run or name.startswith(f"{run}/")]
    return any(_RUN.fullmatch(part) for part in within)
