from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import SpecError
from hbench.spec.nodes import LIMIT, compose

from .conftest import Write


def read(path: Path) -> object:
    root, reader = compose(path)
    return reader.node(root).plain()


def test_scalars_are_those_of_yaml_1_2(write: Write) -> None:
    text = "a: [yes, no, on, 01, 12:30, 2020-01-31, 1e5, 1_000, 0x1f, -2, .5, true, null, ~, '7', .inf]"
    assert read(write("a.yaml", text)) == {
        "a": [
            "yes",
            "no",
            "on",
            "01",
            "12:30",
            "2020-01-31",
            1e5,
            1000,
            31,
            -2,
            0.5,
            True,
            None,
            None,
            "7",
            float("inf"),
        ]
    }


# Beyond these, JSON escapes halves of a character.
TEXT = st.text(st.characters(min_codepoint=1, max_codepoint=0xFFFF, exclude_categories=["Cs"]))
NUMBERS = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.recursive(
        st.none() | st.booleans() | NUMBERS | TEXT,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
        max_leaves=20,
    )
)
def test_json_is_read_as_it_is(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_text(json.dumps({"value": value}), encoding="utf-8")
    assert read(path) == {"value": value}


def test_places_are_kept(write: Write) -> None:
    root, reader = compose(write("a.yaml", "a: 1\nb:\n  - x\n  - c: 2\n    d: 3\n"))
    node = reader.node(root)
    assert node.at(("b",)).line == 2
    assert node.at(("b", 0)).line == 3
    assert node.at(("b", 1, "d")).line == 5
    # What is not there gives the place of what holds it.
    assert node.at(("b", 1, "nothing", 7)).line == 4


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "broken YAML"),
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' is given twice (first in line 1)"),
        ("a:\n  b: {c: 1, c: 2}\n", 2, "given twice"),
        ("a: !!python/object/apply:os.system ['true']\n", 1, "is not allowed"),
        ("a: 1\nb: !!python/name:os.system\n", 2, "is not allowed"),
        ("a: !!binary aGk=\n", 1, "is not allowed"),
        ("a: !include x.yaml\n", 1, "is not allowed"),
        ("a: !!int seven\n", 1, "'seven' is no int"),
        ('a: 1\nb: "x\\0y"\n', 2, "a text holds the character NUL"),
        ('"\\0": 1\n', 1, "a text holds the character NUL"),
        ("? [1, 2]\n: 3\n", 1, "a key must be a single word or number"),
        ("- 1\n- 2\n", 1, "must be a mapping"),
        ("a: &x [*x]\n", 1, "contains itself"),
        ("a: &x\n  <<: *x\n", 2, "contains itself"),
        ("", None, "the file is empty"),
        ("a: 1\n---\nb: 2\n", 2, "broken YAML"),
        ("a: \x01\n", None, "broken YAML"),
    ],
)
def test_refused(write: Write, text: str, line: int | None, message: str) -> None:
    path = write("a.yaml", text)
    with pytest.raises(SpecError) as caught:
        read(path)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.file == str(path)


def test_python_tag_runs_nothing(write: Write, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    with pytest.raises(SpecError, match="not allowed"):
        read(
            write(
                "a.yaml", f"a: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{mark}']]"
            )
        )
    assert not mark.exists()


def test_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(SpecError, match=r"a.yaml:2: the file is not UTF-8"):
        read(path)


def test_byte_order_mark_is_no_key(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes("\ufeffa: 1\n".encode())
    assert read(path) == {"a": 1}


@pytest.mark.parametrize("kind", ["list", "merge"])
def test_alias_bomb_is_harmless(write: Write, kind: str) -> None:
    """Nine levels of nine aliases would be 387 million values."""
    if kind == "list":
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    else:
        lines = ["a0: &a0 {x: 1}"]
        lines += [f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    start = time.process_time()
    with pytest.raises(SpecError, match=f"more than {LIMIT:,} values"):
        read(write("a.yaml", "\n".join(lines)))
    assert time.process_time() - start < 10


@pytest.mark.parametrize("text", ["[" * 100_000, "a: " + "[" * 100_000 + "]" * 100_000, "{a: " * 50_000, "- " * 20_000])
def test_deep_nesting_is_harmless(write: Write, text: str) -> None:
    with pytest.raises(SpecError):
        read(write("a.yaml", text))


def test_merge_keys_yield_to_own(write: Write) -> None:
    text = "base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\nall:\n  a: 0\n  <<: [*base, *more]\n"
    assert read(write("a.yaml", text))["all"] == {"a": 0, "b": 2, "c": 4}  # type: ignore[index]


@pytest.mark.parametrize("digits", ["9" * 100_000, "0x" + "f" * 100_000, "-" + "1_" * 100_000 + "1"])
def test_numbers_that_nobody_can_write_are_refused(write: Write, digits: str) -> None:
    with pytest.raises(SpecError, match=r"a.yaml:2: '.{60}\.\.\.' is no int") as caught:
        read(write("a.yaml", f"x: 1\na: {digits}\n"))
    assert len(str(caught.value)) < 300
