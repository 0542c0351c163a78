from __future__ import annotations

import json

import pytest
import yaml

from hbench.spec import Task, discover, task_schema


def test_every_key_is_known_to_editors() -> None:
    schema = task_schema()
    assert set(Task.model_fields) | {"include"} == set(schema["properties"])
    json.dumps(schema)


def test_shipped_files_fit_as_they_are_written() -> None:
    """The schema is for files, not for tasks: short forms, includes and splices must pass."""
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(task_schema())
    for entry in discover().entries:
        written = yaml.safe_load(entry.path.read_text(encoding="utf-8"))
        faults = [f"{entry.path.name} {list(error.path)}: {error.message}" for error in validator.iter_errors(written)]
        assert not faults


def test_a_misspelt_key_does_not_fit() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(task_schema())
    assert list(validator.iter_errors({"task": "a", "topik": "b"}))
    assert list(validator.iter_errors({"targets": [{"name": "a", "kind": "numerc"}]}))
