"""HouseholdBench's scoring rules again, slow and short, from its description alone: what ours is compared with.

`math.fsum` stands for the compensated `sum` of Python 3.12 and later. Where that scorer stops altogether, `StopsError`
is raised; an answer that would stop it is the failure `CRASH`, for which ours has names of its own.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from statistics import pstdev
from typing import Any

CRASH = "crash"
FIELDS = ("prediction", "raw_output", "response", "model_output", "assistant")
DECODER = json.JSONDecoder()


class StopsError(Exception):
    """The whole scoring stops."""


class BadError(Exception):
    """One answer is not valid."""


@dataclass(frozen=True)
class Shape:
    """What a task asks for: ``numeric``, ``categorical`` or ``probability``, and the labels of each target."""

    kind: str
    labels: dict[str, tuple[Any, ...]]


def unwrapped(raw: str) -> str:
    text = raw.strip()
    if "</think>" in text:
        text = text.split("</think>", 1)[1].strip()
    if not text:
        raise BadError("empty_response")
    return text


def decoded(raw: Any) -> Any:
    if not isinstance(raw, str):
        return raw
    text = unwrapped(raw)
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    found = []
    for start, letter in enumerate(text):
        if letter in '[{"':
            try:
                found.append(DECODER.raw_decode(text, start)[0])
            except json.JSONDecodeError:
                continue
    return next((value for value in found if isinstance(value, list | dict)), found[0] if found else text)


def number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadError(f"{name}:expected_number")
    if not math.isfinite(float(value)):
        raise BadError(f"{name}:non_finite_number")
    return float(value)


def label(value: Any, name: str, allowed: tuple[Any, ...]) -> Any:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise BadError(f"{name}:expected_categorical_label")
    if value not in allowed:
        raise BadError(f"{name}:invalid_label:{value!r};allowed={','.join(map(str, allowed))}")
    return value


def vector(value: Any, name: str, size: int) -> list[float]:
    if not isinstance(value, list):
        raise BadError(f"{name}:expected_probability_vector")
    if len(value) != size:
        raise BadError(f"{name}:expected_{size}_probabilities")
    out = []
    for element in value:
        out.append(number(element, name))
        if not 0 <= out[-1] <= 1:
            raise BadError(f"{name}:probability_out_of_range")
    if not math.isclose(math.fsum(out), 1, rel_tol=0, abs_tol=1e-6):
        raise BadError(f"{name}:probabilities_must_sum_to_one")
    return out


def checked(value: Any, shape: Shape) -> list[Any]:
    size = len(shape.labels)
    vectors = shape.kind == "probability"
    if not isinstance(value, list):
        raise BadError("expected_distribution_array" if vectors else "expected_json_array")
    if len(value) != size:
        raise BadError(f"expected_{size}_distributions" if vectors else f"expected_{size}_array_elements")
    if vectors:
        return [
            vector(one, name, len(allowed)) for one, (name, allowed) in zip(value, shape.labels.items(), strict=True)
        ]
    if shape.kind == "numeric":
        return [number(one, name) for one, name in zip(value, shape.labels, strict=True)]
    return [label(one, name, allowed) for one, (name, allowed) in zip(value, shape.labels.items(), strict=True)]


def strictly(raw: Any, shape: Shape) -> list[Any]:
    try:
        return checked(decoded(raw), shape)
    except (OverflowError, RecursionError):
        raise BadError(CRASH) from None
    except ValueError:  # more digits than Python reads
        raise BadError(CRASH) from None


def renested(raw: str, shape: Shape) -> list[Any] | None:
    text, at, lists = unwrapped(raw), 0, []
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            value, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        lists += [value] if isinstance(value, list) else []
    sizes = [len(allowed) for allowed in shape.labels.values()]
    if [len(one) for one in lists] == sizes:
        return lists
    if len(lists) == 1 and len(lists[0]) == sum(sizes):
        rest = iter(lists[0])
        return [[next(rest) for _ in range(size)] for size in sizes]
    return None


def read(raw: Any, shape: Shape, *, numbers: bool, nesting: bool) -> tuple[list[Any], bool]:
    try:
        return strictly(raw, shape), False
    except BadError as failure:
        if isinstance(raw, str) and str(failure) != CRASH:
            try:
                if nesting and shape.kind == "probability" and (rebuilt := renested(raw, shape)) is not None:
                    return checked(rebuilt, shape), True
                if numbers and shape.kind == "numeric":
                    text = re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", raw.replace("$", ""))
                    if text != raw:
                        return strictly(text, shape), True
            except (BadError, OverflowError):
                raise failure from None
        raise


def relmae(predicted: list[float], true: list[float], before: list[float], name: str) -> float:
    below = math.fsum(abs(b - t) for b, t in zip(before, true, strict=True))
    if below == 0:
        raise StopsError(f"{name}:zero_naive_baseline_error")
    return math.fsum(abs(p - t) for p, t in zip(predicted, true, strict=True)) / below


def macro_f1(predicted: list[Any], true: list[Any], labels: tuple[Any, ...]) -> float:
    out = []
    for one in labels:
        hits = sum(p == one == t for p, t in zip(predicted, true, strict=True))
        parts = sum(p == one for p in predicted) + sum(t == one for t in true)
        out.append(2 * hits / parts if parts else 0.0)
    return math.fsum(out) / len(out)


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def metrics(shape: Shape, rows: list[tuple[list[Any], list[Any], list[Any] | None]]) -> dict[str, Any]:
    names = list(shape.labels)
    columns = {
        name: [[None if part is None else part[k] for part in row] for row in rows] for k, name in enumerate(names)
    }
    split = {name: tuple(map(list, zip(*column, strict=True))) for name, column in columns.items()}
    if not rows:
        return {"primary_score": None}
    if shape.kind == "numeric":
        rel = {name: relmae(*parts, name) for name, parts in split.items()}
        deviations = {name: pstdev(true) for name, (_, true, _) in split.items()}
        nmae = {
            name: mean([abs(p - t) for p, t in zip(predicted, true, strict=True)]) / deviations[name]
            if deviations[name]
            else None
            for name, (predicted, true, _) in split.items()
        }
        known = [value for value in nmae.values() if value is not None]
        return {
            "primary_score": mean(list(rel.values())),
            "relmae_by_target": rel,
            "mean_relmae": mean(list(rel.values())),
            "nmae_by_target": nmae,
            "mean_nmae": mean(known) if known else None,
        }
    if shape.kind == "categorical":
        f1 = {name: macro_f1(predicted, true, shape.labels[name]) for name, (predicted, true, _) in split.items()}
        right = {
            name: mean([float(p == t) for p, t in zip(predicted, true, strict=True)])
            for name, (predicted, true, _) in split.items()
        }
        return {
            "primary_score": mean(list(f1.values())),
            "macro_f1_by_target": f1,
            "mean_macro_f1": mean(list(f1.values())),
            "accuracy_by_target": right,
            "mean_accuracy": mean(list(right.values())),
        }
    distance = {
        name: mean(
            [math.fsum(abs(a - b) for a, b in zip(p, t, strict=True)) / 2 for p, t in zip(predicted, true, strict=True)]
        )
        for name, (predicted, true, _) in split.items()
    }
    return {
        "primary_score": mean(list(distance.values())),
        "tv_by_distribution": distance,
        "mean_total_variation": mean(list(distance.values())),
    }


def gold_keys(gold: list[dict[str, Any]]) -> tuple[list[str], str]:
    def first(row: dict[str, Any], at: int, *fields: str) -> str:
        return next((str(row[field]) for field in fields if row.get(field) is not None), str(at))

    if any(row.get("example_id") is not None for row in gold):
        return [first(row, at, "example_id", "id") for at, row in enumerate(gold)], "example"
    if gold and all(row.get("id") is not None and row.get("time") is not None for row in gold):
        return [f"{row['id']}@{row['time']}" for row in gold], "time"
    return [first(row, at, "id", "example_id") for at, row in enumerate(gold)], "id"


def prediction_key(row: dict[str, Any], way: str, gold: list[dict[str, Any]]) -> str:
    name, example, time = (row.get(field) for field in ("id", "example_id", "time"))
    if name is None and example is None:
        raise StopsError("missing required field")
    if way == "time" and name is not None:
        if time is not None:
            return f"{name}@{time}"
        ids = [str(one["id"]) for one in gold]
        if len(set(ids)) < len(ids):
            raise StopsError("has no 'time'")
        return next((f"{one['id']}@{one['time']}" for one in gold if str(one["id"]) == str(name)), str(name))
    first, second = (example, name) if way != "id" else (name, example)
    return str(first if first is not None else second)


def score(
    shape: Shape,
    gold: list[dict[str, Any]],
    predictions: list[dict[str, Any]],
    *,
    numbers: bool = False,
    nesting: bool = False,
    field: str | None = None,
) -> dict[str, Any]:
    """The result of scoring, without its list of details; `errors` are the failures of the rows in order."""
    keys, way = gold_keys(gold)
    if len(set(keys)) < len(keys):
        raise StopsError("Gold rows repeat the key")
    answers: dict[str, dict[str, Any]] = {}
    for row in predictions:
        key = prediction_key(row, way, gold)
        if key in answers:
            raise StopsError("Duplicate prediction ids")
        answers[key] = row
    ids = {str(row["id"]) for row in predictions if row.get("id") is not None}
    valid, errors, repaired = [], {}, 0
    for key, row in zip(keys, gold, strict=True):
        try:
            true = strictly(row["assistant"], shape)
            before = strictly(row["naive_baseline"], shape) if shape.kind == "numeric" else None
        except BadError as failure:
            raise StopsError(str(failure)) from None
        try:
            if key not in answers:
                raise BadError("time_mismatch" if way == "time" and str(row["id"]) in ids else "missing_prediction")
            answer = answers[key]
            present = [one for one in ([field] if field else FIELDS) if one in answer]
            if not present:
                raise BadError(
                    f"Prediction row has no configured response field {field!r}"
                    if field
                    else f"Prediction row has no response field. Accepted fields: {', '.join(FIELDS)}"
                )
            predicted, mended = read(answer[present[0]], shape, numbers=numbers, nesting=nesting)
            repaired += mended
            valid.append((predicted, true, before))
        except BadError as failure:
            errors[key] = str(failure)
    extra = sorted(set(answers) - set(keys))
    return {
        "num_examples": len(gold),
        "num_predictions": len(predictions),
        "num_valid": len(valid),
        "num_invalid": len(gold) - len(valid),
        "num_repaired": repaired,
        "valid_response_rate": len(valid) / len(gold) if gold else 0.0,
        "coverage_rate": sum(key in answers for key in keys) / len(gold) if gold else 0.0,
        "num_extra_predictions": len(extra),
        "extra_prediction_ids": extra,
        "error_counts": Counter(errors.values()),
        "valid_example_ids": [key for key in keys if key not in errors],
        "errors": errors,
        "metrics": metrics(shape, valid),
    }
