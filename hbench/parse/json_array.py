"""Answers that are one JSON array: HouseholdBench's format, read as its scorer reads it."""

from __future__ import annotations

from collections.abc import Sequence

from hbench.core import AnswerSpec, Completion, Failure, JsonValue, Parsed, Value, Values
from hbench.parse.elements import check_element, clip, refuse, render_element
from hbench.parse.extract import answer_text, extract_json
from hbench.parse.repair import attempt_numbers, rebuild_vectors
from hbench.parse.schema import array_schema


class JsonArray:
    """One element per target, in the targets' order: numbers, labels, and probability vectors in mixed tasks.

    With the option ``whole``, numbers without a fraction are written without decimals: ``350000``, ``349999.5``.
    """

    not_an_array = "expected_json_array"
    wrong_length = "expected_{}_array_elements"

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
        """Read strictly; then try the repairs that the answer allows. A failed repair keeps the first reason."""
        raw = answer_text(completion, answer)
        strict = self._read(raw, answer)
        if not isinstance(strict, Failure):
            return Parsed(strict)
        if isinstance(raw, str):
            kinds = {target.kind for target in answer.targets}
            if "nesting" in answer.repairs and kinds == {"probability"}:
                vectors = rebuild_vectors(raw, answer.targets)
                values = None if vectors is None else self._check(vectors, answer)
                if values is not None and not isinstance(values, Failure):
                    return Parsed(values, repaired="nesting")
            if "numbers" in answer.repairs and kinds == {"numeric"}:
                text = attempt_numbers(raw)
                values = None if text is None else self._read(text, answer)
                if values is not None and not isinstance(values, Failure):
                    return Parsed(values, repaired="numbers")
        return strict

    def render(self, values: Values, answer: AnswerSpec) -> str:
        """Write the array with ``", "`` between elements, rounded as the answer says."""
        elements = [
            render_element(value, target, answer.decimals) for value, target in zip(values, answer.targets, strict=True)
        ]
        if answer.options.get("whole"):
            elements = [element.removesuffix(".0") for element in elements]
        return f"[{', '.join(elements)}]"

    def schema(self, answer: AnswerSpec) -> dict[str, JsonValue]:
        """Return the JSON Schema that every valid answer meets."""
        return array_schema(answer)

    def _read(self, raw: object, answer: AnswerSpec) -> Values | Failure:
        found = extract_json(raw)
        if found.problem is not None:
            return refuse(found.problem, found.detail)
        if not isinstance(found.value, list | tuple):
            return refuse(self.not_an_array, found.detail)
        return self._check(found.value, answer)

    def _check(self, array: Sequence[JsonValue], answer: AnswerSpec) -> Values | Failure:
        if len(array) != len(answer.targets):
            return refuse(self.wrong_length.format(len(answer.targets)), f"got {len(array)}")
        values: list[Value] = []
        for element, target in zip(array, answer.targets, strict=True):
            value = check_element(element, target)
            if isinstance(value, Failure):
                return value
            values.append(clip(value, target) if answer.clip else value)
        return tuple(values)


class ProbabilityVectors(JsonArray):
    """One probability vector per target, as an array of arrays."""

    not_an_array = "expected_distribution_array"
    wrong_length = "expected_{}_distributions"
