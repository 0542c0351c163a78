from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from .release import CHANGELOG, notes

ROOT = Path(__file__).resolve().parents[2]
READY = """\
# Changelog

## Unreleased

## 1.2.0 - 2026-12-01

- New.
  More of it.

## 1.1.0 - 2026-01-01

- Old.
"""
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_notes_are_the_tags_section() -> None:
    assert notes("v1.2.0", "1.2.0", READY) == "- New.\n  More of it."


@pytest.mark.parametrize(
    ("tag", "version", "changelog", "words"),
    [
        ("v1.2.1", "1.2.0", READY, "says 1.2.0"),
        ("1.2.0", "1.2.0", READY, "the tag is 1.2.0"),
        ("v1.3.0", "1.3.0", READY, "no section `## 1.3.0"),
        ("v1.2.0", "1.2.0", READY.replace(" - 2026-12-01", ""), "no section"),
        ("v1.2.0", "1.2.0", READY.replace("- New.\n  More of it.", ""), "no section"),
        ("v1.2.0", "1.2.0", READY.replace("## Unreleased\n", "## Unreleased\n\n- Forgotten."), "under Unreleased"),
    ],
)
def test_what_is_not_ready_is_not_released(tag: str, version: str, changelog: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        notes(tag, version, changelog)


def test_the_changelog_has_a_place_for_what_comes() -> None:
    assert "\n## Unreleased\n" in CHANGELOG.read_text(encoding="utf-8")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_read_and_no_more_unless_a_job_says_so(workflow: Path) -> None:
    """Rights that a whole workflow has are rights of whatever a dependency smuggles into its tests."""
    content = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert content["permissions"] == {"contents": "read"}
    for name, job in content["jobs"].items():
        writes = {right for right, level in job.get("permissions", {}).items() if level == "write"}
        assert writes <= {"build": {"id-token", "attestations"}, "publish": {"id-token"}, "announce": {"contents"}}.get(
            name, set()
        ), name
        assert "secrets." not in str(job), f"{name} needs a stored secret"


def test_there_are_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "release.yml"]
