"""The JSON Schema of a task's answers, for servers that can be held to one."""

from __future__ import annotations

from hbench.core import AnswerSpec, JsonValue, Parser, Target

ROOT = "answer"
"""Providers want an object at the root; the answer is its only member."""


def answer_schema(parser: Parser, answer: AnswerSpec) -> dict[str, JsonValue] | None:
    """Return the schema of an object whose member `ROOT` is the answer; None where the parser reads no JSON."""
    schema = getattr(parser, "schema", None)
    if schema is None:
        return None
    return {
        "type": "object",
        "properties": {ROOT: schema(answer)},
        "required": [ROOT],
        "additionalProperties": False,
    }


def array_schema(answer: AnswerSpec) -> dict[str, JsonValue]:
    """Return the schema of an array with an element for each target.

    Providers know no schemas by place, so an element may be that of any target; the parser still checks each one.
    """
    elements: list[JsonValue] = []
    for target in answer.targets:
        element = _element(target)
        if element not in elements:
            elements.append(element)
    return {
        "type": "array",
        "items": elements[0] if len(elements) == 1 else {"anyOf": elements},
        "minItems": len(answer.targets),
        "maxItems": len(answer.targets),
    }


def _element(target: Target) -> dict[str, JsonValue]:
    match target.kind:
        case "numeric" | "population":
            return {"type": "number"}
        case "ordinal":
            return {"type": "integer"}
        case "categorical":
            return {"type": "string", "enum": list(target.labels)}
        case "probability":
            size = len(target.labels)
            return {"type": "array", "items": {"type": "number"}, "minItems": size, "maxItems": size}
        case "choice_set" | "text":
            return {"type": "string"}
