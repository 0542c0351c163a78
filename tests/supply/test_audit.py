"""The audit's verdicts: silence is no acquittal."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .audit import CONTROL, audit, pip_audit

FLAW = {"id": "PYSEC-1", "aliases": ["CVE-2024-22195"], "fix_versions": ["3.1.3"]}
KNOWN = {"name": CONTROL[0], "version": CONTROL[1], "vulns": [FLAW]}


class Service:
    """Reports on the control as it should, and on the rest what it was told to."""

    def __init__(self, *dependencies: Mapping[str, Any], control: Mapping[str, Any] = KNOWN) -> None:
        self.dependencies, self.control = dependencies, control

    def __call__(self, packages: Mapping[str, str]) -> Mapping[str, Any]:
        return {"dependencies": [self.control] if packages == dict([CONTROL]) else list(self.dependencies)}


def fine(name: str) -> Mapping[str, Any]:
    return {"name": name, "version": "1", "vulns": []}


def test_all_looked_up_and_fine() -> None:
    verdict = audit({"a": "1", "b": "1"}, Service(fine("a"), fine("b")))
    assert (verdict.code, verdict.lines) == (0, ["2 packages looked up, 0 findings."])


def test_a_vulnerability_is_named_with_what_mends_it() -> None:
    verdict = audit({"a": "1", "b": "2"}, Service(fine("a"), {"name": "b", "version": "2", "vulns": [FLAW]}))
    assert verdict.code == 1
    assert verdict.lines[0] == "b 2: PYSEC-1 CVE-2024-22195; mended in 3.1.3"


@pytest.mark.parametrize("skipped", [[{"name": "b", "skip_reason": "not found on PyPI"}], []])
def test_a_package_that_was_skipped_fails_the_check(skipped: list[Mapping[str, Any]]) -> None:
    verdict = audit({"a": "1", "b": "2"}, Service(fine("a"), *skipped))
    assert verdict.code == 1
    assert verdict.lines[0].startswith("b 2: skipped (not ")


@pytest.mark.parametrize("control", [{**KNOWN, "vulns": []}, {"name": "jinja2", "skip_reason": "not found on PyPI"}])
def test_a_service_that_tells_of_no_known_vulnerability_was_not_reached(control: Mapping[str, Any]) -> None:
    verdict = audit({"a": "1"}, Service(fine("a"), control=control))
    assert verdict.code == 3
    assert verdict.lines[0].startswith("not run: the service knows of no vulnerability of jinja2 3.1.2")


def test_a_program_that_fails_was_not_run(tmp_path: Path) -> None:
    program = tmp_path / "fails.py"
    program.write_text("import sys; print('cannot resolve the host', file=sys.stderr); sys.exit(2)")
    verdict = audit({"a": "1"}, pip_audit([sys.executable, str(program)]))
    assert (verdict.code, verdict.lines) == (3, ["not run: pip-audit ended with 2: cannot resolve the host"])


def test_pip_audit_is_given_pins_and_its_report_is_read(tmp_path: Path) -> None:
    program = tmp_path / "audits.py"
    program.write_text(
        "import json, sys, pathlib\n"
        "pins = pathlib.Path(sys.argv[sys.argv.index('-r') + 1]).read_text().split()\n"
        "print(json.dumps({'dependencies': [{'name': p.split('==')[0], 'version': p.split('==')[1], 'vulns':\n"
        f"    {json.dumps([FLAW])} if p == 'jinja2==3.1.2' else []}} for p in pins]}}))\n"
    )
    ask = pip_audit([sys.executable, str(program)])
    assert audit({"a": "1", "b": "2"}, ask).code == 0
    assert audit({"a": "1", "jinja2": "3.1.2"}, ask).code == 1
