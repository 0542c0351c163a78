from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import SpecError
from hbench.spec.includes import Library
from hbench.spec.narrow import narrowed

KEYS = ("task", "targets", "survey", "include")


def glance(folder: Path, text: str, *, narrow: bool) -> object:
    """Return what a file says under the wanted keys, read after narrowing or in full."""
    path = folder / "t.yaml"
    path.write_bytes(text.encode())
    try:
        plain = Library(folder, only=KEYS if narrow else None).document(path)[0].plain()
    except SpecError as error:
        return error.message, error.line
    return {key: value for key, value in plain.items() if key in KEYS}


def test_other_blocks_are_blanked_and_lines_stay() -> None:
    text = "# a task\ntask: a\nprompt:\n  system: |\n    task: b\n\n# x\ntargets:\n- {name: b}\nlast: [1,\n 2]\n"
    assert narrowed(text, KEYS) == "# a task\ntask: a\n\n\n\n\n\ntargets:\n- {name: b}\n\n\n"


@pytest.mark.parametrize(
    "text",
    [
        'task: a\nnote: "b\nsurvey: c"\n',
        "task: a\nnote: 'b\nsurvey: c'\n",
        'task: a\nnote: "b\\"\nsurvey: c"\n',
        'task: a\nnote:\n  "b\nsurvey: c"\n',
        "task: a\nnote: {b: c,\nsurvey: d}\n",
        'task: a\nnote: [b, "c]\nsurvey: d"]\n',
        "task: a\nnote: &x b\nsurvey: *x\n",
        "task: a\nnote: !!str b\nsurvey: c\n",
        "{task: a, survey: b}\n",
        "task: a\rsurvey: b\r",
        "task: a\r\nnote: b\r\nsurvey: c\r\n",
        "task: a\nnote: b\x85survey: c\n",
        "task: a\n? survey\n: b\n",
        '"task": a\nnote: b\nsurvey: c\n',
        "task: a\nnote: b\nnote: c\n",
        "---\ntask: a\nnote: b\n...\n",
        "task: a\nnote: b\n--- \nsurvey: c\n",
        "task: a\nbroken\n",
        "task: a\nnote: \tb\n",
        "<<: {survey: b}\ntask: a\n",
        "- task\n",
        "",
        "# only a comment\n",
        "task: a\nnote:\nsurvey: b\n",
        "task: a\nnote: # b\n  c: d\nsurvey: |\n  e\n",
        "task: a\nnote: 'b' # it's\nsurvey: c\n",
        "task: [a\n",
    ],
)
def test_a_glance_reads_what_a_full_look_reads(tmp_path: Path, text: str) -> None:
    assert glance(tmp_path, text, narrow=True) == glance(tmp_path, text, narrow=False)


LINES = """\
task: a|note: b|note2: 'b|survey: c|survey: 'c'|targets:|- x|  - y|  k: v|k3: [a,|]|n4: >|  it's|# c||n5: "d"|n6: "d|e"
n7: {a: b}|n8: {a: b|}|n9: [x, 'y']"""
LINE = st.sampled_from([line for row in LINES.splitlines() for line in row.split("|")])


@given(st.lists(LINE, max_size=9))
def test_wherever_a_full_look_succeeds_a_glance_reads_the_same(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("yaml")
    text = "\n".join(lines)
    full = glance(folder, text, narrow=False)
    if isinstance(full, dict):
        assert glance(folder, text, narrow=True) == full
