"""Under what licences the project's dependencies are, from the metadata that they are installed with.

``python -m tests.supply.licences`` writes docs/licences.md; ``--check`` only compares. Both fail for a licence that is
unknown or not allowed. An allowed licence lets anyone use and pass on hbench under Apache-2.0 with the packages beside
it; those of tests and development are not passed on with anything, so that any licence will do there.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution
from pathlib import Path

from tests.supply.closure import Closure, closure

PAGE = Path(__file__).resolve().parents[2] / "docs" / "licences.md"
ALLOWED = frozenset({
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "CNRI-Python", "ISC", "LGPL-2.1-or-later", "MIT", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Unlicense", "Zlib",
})  # fmt: skip
"""SPDX's names, and ``BSD`` where a package does not say with how many clauses.

MPL and LGPL ask of whoever changes those packages themselves, which hbench does not.
"""
NOT_PASSED_ON = frozenset({"test", "dev", "docs"})
"""Extras for work on the project alone."""
WORDS = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache 2.0 license": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "bsd license": "BSD",
    "gnu lesser general public license v2 or later (lgplv2+)": "LGPL-2.1-or-later",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psfl": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
    "the mit license (mit)": "MIT",
}
"""What packages write in place of SPDX's names, in lower case."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_HEAD = """# Licences of the dependencies

Made by `make licences` from the metadata of the packages as installed; `python -m tests.supply.licences --check`
compares, and fails for a licence that is unknown or not in its list. hbench itself is under Apache-2.0 and carries
none of these packages: they are installed beside it. What is needed for `core` comes with `pip install hbench`, the
rest with the extras named. `test`, `dev` and `docs` are for work on the project and are passed on with nothing.

Carried along, for the pages that `hbench report --html` makes: d3 and Observable Plot (both ISC, with their licences in
`hbench/report/site/assets/vendor`).

| package | licence | needed for |
|---|---|---|
"""


def licence_of(package: Distribution) -> str | None:
    """Return a package's licence as an SPDX expression, None where its metadata do not tell."""
    about = package.metadata
    if expression := about.get("License-Expression"):
        return str(expression)
    told = str(about.get("License") or "").strip().split("\n")[0].strip()
    if told in ("UNKNOWN", "LICENSE"):  # setuptools' word for none, or the name of a file
        told = ""
    if told.lower() in WORDS:
        return WORDS[told.lower()]
    if told and all(_is_known(name) for name in names_of(told)):
        return told
    classifiers = [line for line in about.get_all("Classifier") or () if line.startswith("License :: OSI Approved ::")]
    found = [WORDS.get(line.rpartition(" :: ")[2].lower()) for line in classifiers]
    if found and all(found):
        return " OR ".join(name for name in found if name)
    if told and " " not in told and _NAME.fullmatch(told):
        return told
    return next(filter(None, map(_headed, _licence_files(package))), None)


def names_of(expression: str) -> list[str]:
    """Return the licences that an SPDX expression names, exceptions with the licence that they belong to."""
    return [part.strip(" ()") for part in re.split(r"\s+(?:AND|OR)\s+", expression)]


def is_allowed(expression: str) -> bool:
    """Tell whether a package may be depended on: licences that hold together must all be allowed, of a choice one."""
    if "(" in expression:
        # Nothing here has nested choices; whoever meets one has to think about it.
        return all(name in ALLOWED for name in names_of(expression))
    return any(all(name.strip() in ALLOWED for name in re.split(r"\s+AND\s+", choice))
               for choice in re.split(r"\s+OR\s+", expression))  # fmt: skip


def faults(found: Closure) -> list[str]:
    """Return a line for each dependency whose licence is unknown or not allowed."""
    out = []
    for name, package in sorted(found.found.items()):
        licence, needed = licence_of(package), found.needed_by[name]
        if licence is None:
            out.append(f"{name} {package.version}: its metadata do not tell its licence")
        elif not is_allowed(licence) and needed - NOT_PASSED_ON:
            out.append(f"{name} {package.version}: {licence} is not allowed (needed for {', '.join(sorted(needed))})")
    return out


def page(found: Closure) -> str:
    """Return the page that lists all licences."""
    lines = [
        f"| {name} | {licence_of(package) or 'unknown'} | {', '.join(sorted(found.needed_by[name]))} |"
        for name, package in sorted(found.found.items())
    ]
    text = _HEAD + "\n".join(lines) + "\n"
    if found.absent:
        text += "\nNot installed where this page was made, so that nothing is said of them and of what they need: "
        text += ", ".join(f"{name} ({', '.join(sorted(why))})" for name, why in sorted(found.absent.items())) + ".\n"
    return text


def unlisted(found: Closure, text: str) -> list[str]:
    """Return a line for each dependency that a page does not list with its licence."""
    return [
        f"{name}: docs/licences.md does not list it under {licence_of(package)}"
        for name, package in sorted(found.found.items())
        if f"\n| {name} | {licence_of(package)} |" not in text
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or compare it; return 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where the page is not up to date")
    given = parser.parse_args(arguments)
    found = closure()
    wrong = faults(found)
    if given.check:
        wrong += unlisted(found, PAGE.read_text(encoding="utf-8"))
    else:
        PAGE.write_text(page(found), encoding="utf-8")
    for line in wrong:
        print(line)
    print(f"{len(found.found)} packages, {len(wrong)} faults; {len(found.absent)} are not installed here.")
    return 1 if wrong else 0


def _licence_files(package: Distribution) -> Iterator[str]:
    """Yield the texts of the licence files that a package carries."""
    for name in package.metadata.get_all("License-File") or ():
        yield package.read_text(f"licenses/{name}") or package.read_text(name) or ""


def _headed(text: str) -> str | None:
    """Return the licence that a text is headed by."""
    return WORDS.get(text.lstrip().partition("\n")[0].strip().lower())


def _is_known(name: str) -> bool:
    return name in ALLOWED or name.lower() in WORDS


if __name__ == "__main__":
    sys.exit(main())
