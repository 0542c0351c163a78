"""`score_files` against a second scorer written from the rules alone, on answers as models and accidents make them."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from hbench.core import ScoreError
from hbench.plugin import default_registry
from hbench.run.score_files import score_files
from hbench.spec import Task, load_task
from tests.householdbench.reference_scorer import CRASH, FIELDS, Shape, StopsError, score

FOLDER = Path(__file__).parents[2] / "task_yamls" / "householdbench"
# One and several targets of each kind, unequal vectors, and more labels than two.
TASKS = [
    "income_mich_finance",
    "cons_cex_total",
    "cons_cex_categories",
    "labor_cps_jobfind",
    "income_sce_policy",
    "house_sce_lockin",
    "labor_sce_risk",
    "macro_sce_uncertainty",
]
# A failing case is two files: shrinking it takes minutes and tells little more.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]


@cache
def task_of(name: str) -> tuple[Task, Shape]:
    task = load_task(FOLDER / f"{name}.yaml", root=FOLDER)
    return task, Shape(task.kind, {target.name: tuple(target.labels) for target in task.targets})


plain = st.one_of(
    st.integers(-20, 20),
    st.integers(-(10**7), 10**7),
    st.floats(-1e6, 1e6),
    st.sampled_from([0.1, 0.2, 0.3, -0.0, 1e308, 5e-324, 1e16, 1.0]),
)
strange = st.sampled_from(
    [
        *("5", "", None, True, False, [], {}, [1], {"a": 1}, "employed ", "Employed", "1,000", "$5"),
        *(math.nan, math.inf, -math.inf, 10**400, -(10**309), 2**53 + 1, 1e400),
    ]
)


@st.composite
def vectors(draw: st.DrawFn, size: int) -> list[float]:
    parts = draw(st.lists(st.integers(0, 50), min_size=size, max_size=size).filter(any))
    out = [part / sum(parts) for part in parts]
    if draw(st.booleans()):
        out = [round(part, draw(st.integers(2, 7))) for part in out]
    if draw(st.integers(0, 3)) == 0:  # about the tolerance of the sum
        out[0] += draw(st.sampled_from([1e-6, -1e-6, 1.0000001e-6, 9.99e-7, 2e-6, 1e-9, -1e-12]))
    return out


def right(shape: Shape) -> st.SearchStrategy[list[Any]]:
    """Values of the right form; of vectors, not all add up."""
    parts = {
        "numeric": lambda labels: plain,
        "categorical": st.sampled_from,
        "probability": lambda labels: vectors(len(labels)),
    }[shape.kind]
    return st.tuples(*map(parts, shape.labels.values())).map(list)


@st.composite
def wrong(draw: st.DrawFn, shape: Shape) -> Any:
    """Values with a thing out of place, at any depth."""
    value = draw(right(shape))
    inner = value
    if shape.kind == "probability" and draw(st.booleans()):
        inner = draw(st.sampled_from(value))
    at = draw(st.integers(0, len(inner) - 1))
    what = draw(st.sampled_from(["replace", "drop", "add", "double", "flat", "keyed"]))
    if what == "replace":
        inner[at] = draw(strange)
    elif what == "drop":
        del inner[at]
    elif what == "add":
        inner.insert(at, draw(st.one_of(plain, strange)))
    elif what == "double":
        return [value, value]
    elif what == "flat" and shape.kind == "probability":
        return [part for one in value if isinstance(one, list) for part in one]
    elif what == "keyed":
        return dict(zip(shape.labels, value, strict=False))
    return value


def separated(value: Any) -> str:
    """Write numbers as people do: `$1,024.50`."""
    if isinstance(value, list):
        return f"[{', '.join(map(separated, value))}]"
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15:
        return f"{'-' if value < 0 else ''}${abs(value):,}"
    return json.dumps(value)


NOISE = st.text(alphabet='[]{}",:0123456789.eE-+ $NaInfity\\/truelsk<>\n', max_size=25)
WRAPS = [
    "{}",
    "  {}\n",
    "<think>maybe [1, 2] or {{}}</think>{}",
    "<think>no end {}",
    "</think></think>{}",
    "a</think> {} </think> [3]",
    "```json\n{}\n```",
    "The answer is {}.",
    'I said "x", then {}',
    "{} and not [1, 2]",
    "[4, {}",
    "{}]",
    '"{}"',
    '{{"answer": {}}}',
    "Of 1,024 people: {}",
]


@st.composite
def texts(draw: st.DrawFn, shape: Shape) -> str:
    value = draw(st.one_of(right(shape), right(shape), wrong(shape)))
    write = draw(st.sampled_from([json.dumps, json.dumps, separated, str, lambda v: json.dumps(v, indent=1)]))
    text = write(value)
    if draw(st.integers(0, 4)) == 0:  # outer brackets lost
        text = text.strip()[1:-1]
    text = draw(st.sampled_from(WRAPS)).format(text)
    if draw(st.integers(0, 5)) == 0:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(NOISE) + text[at + draw(st.integers(0, 2)) :]
    return text


def raws(shape: Shape) -> st.SearchStrategy[Any]:
    rare = st.sampled_from(
        ["", " ", "<think>", "</think>", "[" * 5000, "[" * 3000 + "]" * 3000, "[" + "9" * 5000 + "]", "[1e999]"]
    )
    return st.one_of(texts(shape), texts(shape), texts(shape), right(shape), wrong(shape), strange, NOISE, rare)


def reads(value: Any) -> bool:
    """Whether a JSON file can hold it: Python itself refuses to write integers of too many digits."""
    try:
        return json.loads(json.dumps(value)) is not Ellipsis
    except ValueError:
        return False


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(TASKS))
    _, shape = task_of(name)
    ids = [f"{n}" for n in range(draw(st.integers(0, 8)))]
    scheme = draw(st.sampled_from(["time", "time", "time", "panel", "id", "example", "mixed"]))
    golden = []
    for n, one in enumerate(ids):
        row: dict[str, Any] = {
            "id": one if scheme != "panel" else draw(st.sampled_from(["a", "b"])),
            "time": f"20{n:02d}-01-01",
            "assistant": json.dumps(draw(right(shape))),
            "naive_baseline": json.dumps(draw(right(shape))),
        }
        if scheme == "id" or (scheme == "mixed" and draw(st.booleans())):
            row["time"] = None
        if scheme == "example" and draw(st.booleans()):
            row["example_id"] = f"e{n}"
        if scheme == "mixed" and draw(st.integers(0, 4)) == 0:
            del row["id"]
        golden.append(row)
    if golden and draw(st.integers(0, 15)) == 0:
        golden.append({**golden[0], **draw(st.sampled_from([{}, {"time": "1999-01-01"}]))})
    predicted = []
    for row in golden:
        fate = draw(
            st.sampled_from(
                ["same"] * 12 + ["missing", "late", "bare", "bare", "named", "unnamed", "twice", "extra", "mute"]
            )
        )
        if fate == "missing":
            continue
        out = {key: row[key] for key in ("id", "time", "example_id") if key in row}
        if fate == "late":
            out["time"] = f"{row['time']}T00:00:00"
        elif fate == "bare":
            out.pop("time", None)
        elif fate == "named":
            out = {"example_id": f"{row.get('id')}@{row['time']}"}
        elif fate == "unnamed" and draw(st.booleans()):
            out = {}
        elif fate == "extra":
            out["id"] = f"x{row.get('id')}"
        for field in draw(st.lists(st.sampled_from(FIELDS), min_size=fate != "mute", max_size=2, unique=True)):
            out[field] = draw(st.one_of(raws(shape), st.just(row["assistant"])))
        predicted.append(out)
        if fate == "twice" and draw(st.booleans()):
            predicted.append(dict(out))
    return {
        "name": name,
        "gold": golden,
        "predictions": draw(st.permutations(predicted)),
        "numbers": draw(st.booleans()),
        "nesting": draw(st.booleans()),
        "field": draw(st.sampled_from([None, None, None, "prediction", "answer"])),
    }


def same(ours: Any, theirs: Any, path: str = "") -> None:
    """Equal, numbers to 1e-12."""
    if isinstance(theirs, dict):
        assert set(theirs) <= set(ours), path
        for key, value in theirs.items():
            same(ours[key], value, f"{path}/{key}")
    elif isinstance(theirs, float) and isinstance(ours, int | float):
        assert math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-300), (path, ours, theirs)
    else:
        assert ours == theirs, (path, ours, theirs)


def quoted(error: str) -> str:
    """Return the reference's reason as ours, which quotes no more than the beginning of a long label."""
    return re.sub(r"(:invalid_label:.{200}).+(;allowed=)", r"\1…\2", error, flags=re.DOTALL)


def kind_of(message: str) -> str:
    """What a whole scoring stops for."""
    kinds = {
        "repeated gold": r"Gold rows repeat|two true answers",
        "repeated prediction": r"(?i)duplicate prediction ids",
        "no name": r"missing (the )?required field",
        "no time": r"no 'time'",
        "no error": "zero_naive_baseline_error",
    }
    return next((kind for kind, pattern in kinds.items() if re.search(pattern, message)), "true answer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def compare(folder: Path, case: dict[str, Any]) -> dict[str, Any] | None:
    task, shape = task_of(case["name"])
    paths = folder / "gold.jsonl", folder / "pred.jsonl"
    for path, rows in zip(paths, (case["gold"], case["predictions"]), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {key: case[key] for key in ("numbers", "nesting", "field")}
    repairs = [key for key in ("numbers", "nesting") if case[key]]
    try:
        theirs = score(shape, case["gold"], case["predictions"], **options)
    except StopsError as stop:
        kind = kind_of(str(stop))
        with pytest.raises(ScoreError) as caught:
            score_files(task, *paths, repairs=repairs, prediction_field=case["field"], registry=default_registry())
        same(kind_of(str(caught.value)), kind)
        return None
    except OverflowError:  # a sum beyond floats
        assume(False)
    ours = score_files(task, *paths, repairs=repairs, prediction_field=case["field"], registry=default_registry())
    said = {row["id"]: row["error"] for row in ours["invalid_examples"]}
    for key, error in theirs.pop("errors").items():
        if error == CRASH:
            assert said[key], key
        else:
            assert said[key] == quoted(error), key
    assert sum(ours["error_counts"].values()) == len(said) == ours["num_invalid"]
    counts = Counter(map(quoted, theirs.pop("error_counts").elements()))
    if CRASH not in counts:
        assert ours["error_counts"] == counts
    same(ours, theirs)
    return ours


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
@given(case=cases())
def test_both_scorers_say_the_same(folder: Path, case: dict[str, Any]) -> None:
    assume(reads(case["predictions"]))
    compare(folder, case)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
@given(data=st.data())
def test_every_answer_is_read_alike(folder: Path, data: st.DataObject) -> None:
    """Thirty answers at a time, one record each, the repairs on or off."""
    name = data.draw(st.sampled_from(TASKS))
    _, shape = task_of(name)
    golden = data.draw(right(shape))
    assume(shape.kind != "probability" or all(abs(math.fsum(one) - 1) < 1e-7 for one in golden))
    answers = data.draw(st.lists(raws(shape).filter(reads), min_size=30, max_size=30))
    naive = [value + 1 for value in golden] if shape.kind == "numeric" else golden
    case = {
        "name": name,
        "gold": [{"id": str(n), "time": "2020-01-01", "assistant": golden, "naive_baseline": naive} for n in range(30)],
        "predictions": [{"id": str(n), "time": "2020-01-01", "prediction": raw} for n, raw in enumerate(answers)],
        "numbers": (repair := data.draw(st.booleans())),
        "nesting": repair,
        "field": None,
    }
    assume(shape.kind != "numeric" or all(a != b and math.isfinite(b) for a, b in zip(golden, naive, strict=True)))
    compare(folder, case)
