"""A typed task as its author would write it, without includes."""

from __future__ import annotations

import json
from typing import Any

import yaml

from hbench.spec.task import Step, Task

WIDTH = 110


class _Page(yaml.SafeDumper):
    """Short values on one line, texts and long lists over several."""

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        """Write each sentence on a line of its own."""
        node = super().represent_sequence(tag, sequence, flow_style)
        if any(isinstance(item, str) and " " in item for item in sequence):
            node.flow_style = False
        return node

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Put a text with characters that cannot be seen into quotes, within which they can be written out."""
        style = None if text.replace("\n", "").isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their key."""
        super().increase_indent(flow, False)


_Page.add_representer(str, _Page.represent_text)


def page(task: Task) -> str:
    """Return a task as YAML in the short forms that authors use."""
    content = task.model_dump(mode="json", exclude_defaults=True)
    content["predictors"] = [_predictors(part) for part in content.get("predictors", ())]
    content["sample"] = [_step(step) for step in content.get("sample", ())]
    if "split" in content:
        content["split"] = {"unit": content["split"]["unit"], **content["split"].get("params", {})}
    if "paragraphs" in content["prompt"]:
        content["prompt"]["paragraphs"] = [_paragraph(part) for part in content["prompt"]["paragraphs"]]
    content["metrics"] = [use if len(use) > 1 else use["metric"] for use in content["metrics"]]
    filled = {key: value for key, value in content.items() if value not in ([], {})}
    text: str = yaml.dump(
        filled, Dumper=_Page, sort_keys=False, allow_unicode=True, width=WIDTH, default_flow_style=None
    )
    return "".join(sign if sign == "\n" or sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)


def _predictors(part: dict[str, Any]) -> dict[str, Any]:
    if len(part["names"]) > 1:
        return part
    return {"name": part["names"][0], **{key: value for key, value in part.items() if key != "names"}}


def _step(step: dict[str, Any]) -> Any:
    """Return the shortest form that reads as the same step."""
    name, params = step["name"], step.get("params", {})
    note = {"note": step["note"]} if "note" in step else {}
    forms: list[Any] = [] if params or note else [name]
    forms += [{name: inner, **note} for inner in params.values() if len(params) == 1]
    forms.append({name: params or None, **note})
    return next((form for form in forms if Step.model_validate(form) == Step.model_validate(step)), step)


def _paragraph(part: dict[str, Any]) -> Any:
    sentences = part["sentences"]
    one = len(sentences) == 1
    if len(part) > 1:
        rest = {key: value for key, value in part.items() if key != "sentences"}
        return {**rest, **({"text": sentences[0]} if one else {"sentences": sentences})}
    return sentences[0] if one else sentences
