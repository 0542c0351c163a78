"""Known vulnerabilities of the dependencies, asked of an advisory service through pip-audit.

``python -m tests.supply.audit --with PATH/TO/pip-audit`` audits the packages as installed here. It exits with

0  every dependency was looked up, and none has a known vulnerability;
1  one has, or pip-audit skipped one, which it calls a success;
3  not run: the service could not be reached, or gave no advisory for a package that is known to have some.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.supply.closure import closure

CONTROL = ("jinja2", "3.1.2")
"""A package with published vulnerabilities (CVE-2024-22195 and later ones): a service that finds none says nothing."""

Ask = Callable[[Mapping[str, str]], Mapping[str, Any]]
"""From packages and their versions to what pip-audit reports, as JSON. Raises `NotRunError`."""


class NotRunError(Exception):
    """Nothing was found out."""


@dataclass(frozen=True)
class Verdict:
    """What came of an audit.

    Attributes
    ----------
    code : int
        0: all were looked up and are fine. 1: not so. 3: not run.
    lines : list of str
        What to tell.
    """

    code: int
    lines: list[str]


def audit(packages: Mapping[str, str], ask: Ask) -> Verdict:
    """Look packages up, after a control has shown that the service does tell of vulnerabilities."""
    try:
        control = ask(dict([CONTROL]))
        if not any(found.get("vulns") for found in control["dependencies"]):
            name, version = CONTROL
            raise NotRunError(f"the service knows of no vulnerability of {name} {version}, which has some")
        report = ask(packages)
    except NotRunError as error:
        return Verdict(3, [f"not run: {error}"])
    told = {found["name"]: found for found in report["dependencies"]}
    lines = []
    for name, version in sorted(packages.items()):
        found = told.get(name)
        if found is None or "skip_reason" in found:
            reason = "not in the report" if found is None else found["skip_reason"]
            lines.append(f"{name} {version}: skipped ({reason})")
            continue
        for flaw in found["vulns"]:
            mended = ", ".join(flaw.get("fix_versions", ())) or "no version"
            lines.append(f"{name} {version}: {' '.join([flaw['id'], *flaw.get('aliases', ())])}; mended in {mended}")
    return Verdict(1 if lines else 0, [*lines, f"{len(packages)} packages looked up, {len(lines)} findings."])


def pip_audit(command: Sequence[str]) -> Ask:
    """Return what asks through pip-audit."""

    def ask(packages: Mapping[str, str]) -> Mapping[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            pins = Path(folder, "requirements.txt")
            pins.write_text("".join(f"{name}=={version}\n" for name, version in packages.items()), encoding="utf-8")
            done = subprocess.run(
                [*command, "-r", str(pins), "--no-deps", "--disable-pip", "-f", "json", "--progress-spinner", "off"],
                capture_output=True,
                text=True,
                check=False,
            )
        try:
            report: Mapping[str, Any] = json.loads(done.stdout)
        except ValueError:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise NotRunError(f"pip-audit ended with {done.returncode}: {last}") from None
        return report

    return ask


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit what is installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", dest="command", default="pip-audit", help="the program, in an environment of its own")
    given = parser.parse_args(arguments)
    found = closure()
    # A build's own label, as in 2.13.0+cpu, is no release that advisories speak of.
    packages = {name: package.version.partition("+")[0] for name, package in found.found.items()}
    verdict = audit(packages, pip_audit([given.command]))
    for line in verdict.lines:
        print(line)
    if found.absent:
        print(f"not installed here, so not looked up: {', '.join(sorted(found.absent))}")
    return verdict.code


if __name__ == "__main__":
    sys.exit(main())
