"""Checks one element of a JSON answer against its target. Reason codes are those of HouseholdBench's scorer."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from hbench.core import Failure, JsonValue, Target, Value

SUM_TOLERANCE = 1e-6
"""How far from one the sum of a probability vector may be, absolutely."""
_LONGEST_QUOTE = 200


def refuse(reason: str, detail: str = "") -> Failure:
    """Return a failure of reading."""
    return Failure("parse", reason, detail)


def check_element(value: JsonValue, target: Target) -> Value | Failure:
    """Return the target's value, or why this is none."""
    match target.kind:
        case "numeric" | "population":
            return check_number(value, target.name)
        case "ordinal":
            return _whole(value, target.name)
        case "categorical":
            return _label(value, target)
        case "probability":
            return _vector(value, target)
        case "choice_set":
            return _choices(value, target)
        case "text":
            return value if isinstance(value, str) else refuse(f"{target.name}:expected_text")


def check_number(value: JsonValue, name: str) -> float | Failure:
    """Return a finite float. Truth values and numbers written as text are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return refuse(f"{name}:expected_number")
    try:
        number = float(value)
    except OverflowError:
        return refuse(f"{name}:non_finite_number", "beyond the range of a float")
    return number if math.isfinite(number) else refuse(f"{name}:non_finite_number")


def clip(value: Value, target: Target) -> Value:
    """Bring a number into the target's range; other values and targets without a range stay."""
    if target.range is None or isinstance(value, str | tuple):
        return value
    low, high = target.range
    clipped = min(max(value, low), high)
    return int(clipped) if isinstance(value, int) else float(clipped)


def _whole(value: JsonValue, name: str) -> int | Failure:
    number = check_number(value, name)
    if isinstance(number, Failure):
        return number
    return int(number) if number.is_integer() else refuse(f"{name}:expected_whole_number")


def _label(value: JsonValue, target: Target) -> str | Failure:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return refuse(f"{target.name}:expected_categorical_label")
    # Labels that are numbers may be written as such.
    label = value if isinstance(value, str) else _digits(value)
    if label in target.labels:
        return label
    quoted = repr(value) if isinstance(value, str) else label
    if len(quoted) > _LONGEST_QUOTE:
        quoted = quoted[:_LONGEST_QUOTE] + "…"
    return refuse(f"{target.name}:invalid_label:{quoted};allowed={','.join(target.labels)}")


def _digits(value: int) -> str:
    # Decoded values may hold integers that Python refuses to write out.
    return str(value) if value.bit_length() <= 10_000 else f"<integer of {value.bit_length()} bits>"


def _vector(value: JsonValue, target: Target) -> tuple[float, ...] | Failure:
    name = target.name
    if not isinstance(value, list | tuple):
        return refuse(f"{name}:expected_probability_vector")
    if len(value) != len(target.labels):
        return refuse(f"{name}:expected_{len(target.labels)}_probabilities", f"got {len(value)}")
    numbers: list[float] = []
    for item in value:
        number = check_number(item, name)
        if isinstance(number, Failure):
            return number
        if not 0.0 <= number <= 1.0:
            return refuse(f"{name}:probability_out_of_range", f"got {number!r}")
        numbers.append(number)
    # The compensated sum decides at the edge of the tolerance, as in the reference on Python 3.12 and later.
    total = math.fsum(numbers)
    if not math.isclose(total, 1.0, rel_tol=0.0, abs_tol=SUM_TOLERANCE):
        return refuse(f"{name}:probabilities_must_sum_to_one", f"sum {total!r}")
    return tuple(numbers)


def _choices(value: JsonValue, target: Target) -> str | Failure:
    allowed = target.labels or tuple("ABCD")
    if not isinstance(value, str) or not value or not set(value) <= set(allowed):
        return refuse(f"{target.name}:expected_option_letters", f"allowed are {', '.join(allowed)}")
    return "".join(sorted(set(value)))


def render_element(value: Value, target: Target, decimals: int | None) -> str:
    """Write one value as JSON, rounded half to even where decimals are given."""
    if isinstance(value, tuple):
        return json.dumps(round_vector(value, decimals))
    if isinstance(value, str):
        return json.dumps(value)
    return json.dumps(int(value) if target.kind == "ordinal" else round_number(value, decimals))


def round_number(value: float, decimals: int | None) -> float | int:
    """Round half to even; zero decimals give an int, and no negative zero comes out."""
    if decimals is None:
        return float(value)
    return round(float(value)) if decimals == 0 else round(float(value), decimals) + 0.0


def round_vector(vector: Sequence[float], decimals: int | None) -> list[float]:
    """Round a probability vector so that it still sums to one.

    Of two events the second is rounded and the first is its complement; of more, the largest takes the residual.
    """
    if decimals is None:
        return [float(p) for p in vector]
    if len(vector) == 2:
        event = round(float(vector[1]), decimals)
        return [round(1.0 - event, decimals), event]
    rounded = [round(float(p), decimals) for p in vector]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + 1.0 - math.fsum(rounded), decimals)
    return rounded
