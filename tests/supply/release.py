"""Whether a tag may become a release: ``python -m tests.supply.release v1.2.3`` prints its notes, or what is wrong.

The tag is the version of the code, and CHANGELOG.md has a section for it, with a date and at least one entry, above
which nothing is left under "Unreleased".
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from hbench.core.version import __version__

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
_SECTION = re.compile(r"^## +(?P<name>\S+)(?: +- +(?P<date>\d{4}-\d{2}-\d{2}))?[ \t]*$", re.MULTILINE)


def notes(tag: str, version: str, changelog: str) -> str:
    """Return the changelog's section for a tag.

    Raises
    ------
    ValueError
        The tag is not the version's, or the changelog is not ready for it.
    """
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, and hbench/core/version.py says {version}")
    heads = list(_SECTION.finditer(changelog))
    ends = [head.start() for head in heads[1:]] + [len(changelog)]
    found = {
        head["name"]: (head["date"], changelog[head.end() : end].strip()) for head, end in zip(heads, ends, strict=True)
    }
    if found.get("Unreleased", (None, ""))[1]:
        raise ValueError(f"CHANGELOG.md has entries under Unreleased; move them under `## {version} - YYYY-MM-DD`")
    date, text = found.get(version, (None, ""))
    if date is None or not text:
        raise ValueError(f"CHANGELOG.md has no section `## {version} - YYYY-MM-DD` with entries")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the notes of a tag; return 1 where it may not be released."""
    (tag,) = sys.argv[1:] if arguments is None else arguments
    try:
        print(notes(tag, __version__, CHANGELOG.read_text(encoding="utf-8")))
    except ValueError as error:
        print(f"not released: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
