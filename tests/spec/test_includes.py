from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from hbench.core import SpecError
from hbench.spec.includes import Library

from .conftest import Write


def read(path: Path, root: Path | None = None) -> Any:
    return Library(root or path.parent).document(path)[0].plain()


def test_own_keys_win_and_mappings_merge(write: Write) -> None:
    write("_low.yaml", "a: low\nb: low\nmap: {x: low, y: low}\nlist: [1, 2]\n")
    write("_high.yaml", "b: high\nmap: {y: high, z: high}\n")
    path = write("t.yaml", "include: [_low.yaml, _high.yaml]\nmap: {z: own}\nlist: [3]\n")
    assert read(path) == {
        "a": "low",
        "b": "high",
        "map": {"x": "low", "y": "high", "z": "own"},
        "list": [3],
    }


def test_lists_are_spliced_in_place(write: Write) -> None:
    write("_s.yaml", "names: [b, c]\nother:\n  - include: _s.yaml#names\n  - d\n")
    path = write(
        "t.yaml", "names:\n  - a\n  - {include: '_s.yaml#other'}\n  - e\ndeep: {list: [{include: '_s.yaml#names'}]}\n"
    )
    assert read(path) == {"names": ["a", "b", "c", "d", "e"], "deep": {"list": ["b", "c"]}}


def test_includes_nest_and_say_what_they_used(write: Write) -> None:
    write("sub/_b.yaml", "include: ../_c.yaml\nb: 1\n")
    write("_c.yaml", "c: 1\nl: [1]\n")
    path = write("t.yaml", "include: sub/_b.yaml\nl:\n- include: _c.yaml#l\n")
    document, used = Library(path.parent).document(path)
    assert document.plain() == {"c": 1, "b": 1, "l": [1]}
    assert {Path(file).name for file in used} == {"_b.yaml", "_c.yaml"}


def test_lines_point_into_the_included_file(write: Write) -> None:
    write("_s.yaml", "# shared\nmap:\n  x: 1\nitems:\n  - a\n  - b\n")
    path = write("t.yaml", "include: _s.yaml\nmap:\n  y: 2\nlist:\n  - include: _s.yaml#items\n")
    document, _ = Library(path.parent).document(path)
    places = {
        key: (Path(document.at(key).file).name, document.at(key).line)
        for key in [("map", "x"), ("map", "y"), ("list", 1)]
    }
    assert places == {("map", "x"): ("_s.yaml", 3), ("map", "y"): ("t.yaml", 3), ("list", 1): ("_s.yaml", 6)}


@pytest.mark.parametrize(
    "name", ["../outside.yaml", "../../outside.yaml", "{outside}", "link.yaml", "sub/../../outside.yaml"]
)
@pytest.mark.parametrize("form", ["include: [{name}]", "list:\n  - include: {name}#secret"])
def test_no_include_leaves_the_suite(write: Write, tmp_path: Path, name: str, form: str) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text("secret: [1]\n")
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "link.yaml").symlink_to(outside)
    name = name.format(outside=outside)
    path = write("t.yaml", f"a: 1\n{form.format(name=repr(name) if '#' not in form else name)}\n")
    with pytest.raises(SpecError, match="leaves the suite's folder") as caught:
        read(path)
    assert caught.value.line in (2, 3)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\ninclude: _shard.yaml\n", 2, "there is no file '_shard.yaml'"),
        ("include: 7\n", 1, "takes file names"),
        ("include: [[x]]\n", 1, "takes file names"),
        ("l:\n  - include: _shared.yaml\n", 2, 'reads "file.yaml#key"'),
        ("l:\n  - include: _shared.yaml#itms\n", 2, "has no key 'itms'"),
        ("l:\n  - include: _shared.yaml#word\n", 2, "is not a list"),
        ("l:\n  - include: {a: 1}\n", 2, 'reads "file.yaml#key"'),
    ],
)
def test_refused(write: Write, text: str, line: int, message: str) -> None:
    write("_shared.yaml", "items: [1]\nword: x\n")
    with pytest.raises(SpecError) as caught:
        read(write("t.yaml", text))
    assert message in str(caught.value)
    assert caught.value.line == line


def test_nearest_file_and_key_are_named(write: Write) -> None:
    write("_shared.yaml", "items: [1]\n")
    with pytest.raises(SpecError, match=r"Did you mean '_shared\.yaml'"):
        read(write("t.yaml", "include: _shard.yaml\n"))
    with pytest.raises(SpecError, match="Did you mean 'items'"):
        read(write("t.yaml", "l:\n  - include: _shared.yaml#itms\n"))


def test_circles_are_named(write: Write) -> None:
    write("_a.yaml", "include: _b.yaml\n")
    write("_b.yaml", "include: _a.yaml\n")
    write("_c.yaml", "one: [{include: '_c.yaml#two'}]\ntwo: [{include: '_c.yaml#one'}]\n")
    with pytest.raises(SpecError, match=r"_a.yaml -> _b.yaml -> _a.yaml"):
        read(write("t.yaml", "include: _a.yaml\n"))
    with pytest.raises(SpecError, match=r"_c.yaml#one -> _c.yaml#two -> _c.yaml#one"):
        read(write("u.yaml", "l: [{include: '_c.yaml#one'}]\n"))


@pytest.mark.parametrize("nested", [False, True])
def test_include_bomb_is_harmless(write: Write, nested: bool) -> None:
    splices = ["{include: '_N.yaml#l'}"] * 9
    write("_0.yaml", "l: [x, x, x, x, x, x, x, x, x]\n")
    for number in range(1, 9):
        parts = ", ".join(f"[{part}]" if nested else part for part in splices).replace("N", str(number - 1))
        write(f"_{number}.yaml", f"l: [{parts}]\n")
    start = time.process_time()
    with pytest.raises(SpecError, match="more than 200,000 values"):
        read(write("t.yaml", "l: [{include: '_8.yaml#l'}]\n"))
    assert time.process_time() - start < 10
