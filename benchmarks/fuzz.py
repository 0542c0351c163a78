"""Hostile answers by the million: no parser crashes, and none accepts what its task does not.

    python benchmarks/fuzz.py --parser all --inputs 1000000     # over all parsers
    python benchmarks/fuzz.py --parser json_array --seed 7      # others, for one of them

What is asked and who judges it stands in ``tests/fuzz/answers.py``: answers of all installed tasks and of made ones,
broken, spliced, nested, in other scripts, too long, decoded. The judge shares no code with the parsers. The exit code
says whether there was a fault; the first five of each parser are printed.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hbench.core import Failure
from tests.fuzz.answers import PARSERS, answers, fault, instance

_SHOWN = 5


def fuzz(parser: str, inputs: int, seed: int) -> int:
    """Ask one parser so many inputs, print what came of them, and return the number of faults."""
    read, outcomes, faults, longest = instance(parser), Counter[str](), 0, 0.0
    for answer, completion in islice(answers(parser, seed), inputs):
        begun = time.process_time()
        try:
            found = read(completion, answer)
        except Exception:  # noqa: BLE001 - whatever is raised is the finding
            wrong: str | None = traceback.format_exc()
        else:
            wrong = fault(parser, answer, completion, found)
            outcomes["refused" if isinstance(found, Failure) else "repaired" if found.repaired else "read"] += 1
        longest = max(longest, time.process_time() - begun)
        if wrong is not None:
            faults += 1
            if faults <= _SHOWN:
                print(f"{parser}: {wrong}\n  {answer}\n  {completion!r:.2000}", flush=True)
    told = ", ".join(f"{count:,} {name}" for name, count in sorted(outcomes.items()))
    print(f"{parser:>20}: {inputs:,} inputs, {told}, {faults} faults; the longest took {longest:.3f} s", flush=True)
    return faults


def main() -> int:
    """Ask, and say whether anything went wrong."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--parser", choices=["all", *PARSERS], default="all")
    options.add_argument("--inputs", type=int, default=1_000_000, help="all together")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    chosen = PARSERS if given.parser == "all" else (given.parser,)
    sizes = [given.inputs // len(chosen) + (i < given.inputs % len(chosen)) for i in range(len(chosen))]
    return 1 if sum(fuzz(parser, size, given.seed) for parser, size in zip(chosen, sizes, strict=True)) else 0


if __name__ == "__main__":
    sys.exit(main())
