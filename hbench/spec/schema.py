"""The JSON Schema of a task, for editors."""

from __future__ import annotations

from typing import Any

from hbench.spec.task import Task

_SPLICE = {
    "type": "object",
    "properties": {"include": {"type": "string", "pattern": "#"}},
    "required": ["include"],
    "additionalProperties": False,
    "description": "Puts the list that stands under a key of another file here: `file.yaml#key`.",
}
_STEP = {
    "anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1}],
    "description": "A registered step and its parameters, as in `require: [income]`.",
}


def task_schema() -> dict[str, Any]:
    """Return the JSON Schema of a task file, with the short forms and includes that the reader knows."""
    schema = Task.model_json_schema()
    definitions = schema["$defs"]
    _also(definitions["Predictors"], "name", {"type": "string", "description": "One of them."})
    definitions["Predictors"].pop("required", None)
    _also(definitions["Paragraph"], "text", {"type": "string", "description": "One sentence or several as one text."})
    definitions["Paragraph"].pop("required", None)
    definitions["Step"] = _STEP
    definitions["Split"]["additionalProperties"] = True
    properties = schema["properties"]
    properties["metrics"]["items"] = {"anyOf": [{"type": "string"}, properties["metrics"]["items"]]}
    text = {"type": "string"}
    paragraphs = definitions["Prompt"]["properties"]["paragraphs"]
    paragraphs["items"] = {"anyOf": [text, {"type": "array", "items": text}, paragraphs["items"]]}
    predictors = properties["predictors"]
    predictors["items"] = {"anyOf": [text, predictors["items"]]}
    for part in (schema, *definitions.values()):
        for field in part.get("properties", {}).values():
            _splices(field)
    properties["include"] = {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        "description": "Files whose keys lie below this file's own.",
    }
    # What an include brings is required all the same, but an editor sees one file only.
    schema.pop("required", None)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "hbench task"}


def _also(definition: dict[str, Any], key: str, form: dict[str, Any]) -> None:
    definition["properties"][key] = form


def _splices(field: dict[str, Any]) -> None:
    """Let every list of any length hold splices."""
    if field.get("type") == "array" and "items" in field and "prefixItems" not in field:
        field["items"] = {"anyOf": [field["items"], _SPLICE]}
    for alternative in field.get("anyOf", ()):
        _splices(alternative)
