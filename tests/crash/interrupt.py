"""Commands interrupted at their n-th change to a folder's files, by the library that `interpose.c` makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.crash.power import rebuild, remember

KINDS = ("kill", "term", "int", "full", "readonly", "clock", "power")
"""kill -9, SIGTERM, Ctrl-C, a full disk, a disk that cannot be written any more, a kill between two runs whose clocks
differ by twenty years, and a power cut."""
CODES = {"kill": -9, "term": 143, "int": 130, "full": 2, "readonly": 2, "clock": -9, "power": -9}
"""How a command ends that did not end before."""
_ACTIONS = {"clock": "kill", "power": "kill"}
_DECADE = 315_360_000
_MAIN = """
import signal, sys
from hbench.cli.main import main
# A shell lets what it starts in the background ignore Ctrl-C, and that would be inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""


@dataclass(frozen=True)
class Interruption:
    """What happens at which change to the files; where `at` is 0, nothing does."""

    kind: str = "kill"
    at: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Ended:
    """How a command ended, and after how many changes where it ended by itself."""

    code: int
    out: str
    err: str
    changes: int


def supported() -> bool:
    """Say whether commands can be interrupted so on this system."""
    return sys.platform == "linux" and shutil.which("cc") is not None


@cache
def library() -> Path:
    """Compile the library, once in a session."""
    made = Path(tempfile.mkdtemp(prefix="hbench-interpose-")) / "interpose.so"
    source = Path(__file__).with_name("interpose.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", made, source, "-ldl", "-lpthread"], check=True)
    return made


def command(
    words: Sequence[str], place: Path, watched: Path, environment: Mapping[str, str], what: Interruption | None = None
) -> Ended:
    """Run ``hbench WORDS`` in the folder `place`; `what` happens to the files of the folder `watched` below it."""
    beside = place / "beside"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    watched.mkdir(exist_ok=True)
    given = {**os.environ, **environment, "COLUMNS": "120"}
    if what is not None:
        given |= {"LD_PRELOAD": str(library()), "CRASH_UNDER": str(watched), "CRASH_AT": str(what.at)}
        given |= {"CRASH_DO": _ACTIONS.get(what.kind, what.kind), "CRASH_COUNT": str(beside / "count")}
    if what is not None and what.kind == "power":
        given["CRASH_SHADOW"] = str(beside / "shadow")
        remember(watched, beside / "shadow")
    if what is not None and what.kind == "clock":
        given["CRASH_CLOCK"] = str(_DECADE)
    call = [sys.executable, "-c", _MAIN, *words]
    done = subprocess.run(call, cwd=place, env=given, capture_output=True, text=True, timeout=600, check=False)
    if what is not None and what.kind == "power":
        rebuild(watched, beside / "shadow", seed=what.seed)
    count = beside / "count"
    return Ended(done.returncode, done.stdout, done.stderr, int(count.read_text()) if count.exists() else 0)


def again(words: Sequence[str], place: Path, watched: Path, environment: Mapping[str, str], kind: str) -> Ended:
    """Run the command again, undisturbed; after a jump of the clock, with a clock that is ten years late."""
    if kind == "clock":
        environment = {**environment, "LD_PRELOAD": str(library()), "CRASH_CLOCK": str(-_DECADE)}
    return command(words, place, watched, environment)
