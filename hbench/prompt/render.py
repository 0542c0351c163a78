"""From a row of values to the messages of a prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from jinja2 import TemplateError, meta
from jinja2.environment import Template

from hbench.core import DataError, HbenchError, Message, SpecError
from hbench.core.errors import foreign
from hbench.prompt.missing import AbsentError, is_missing
from hbench.prompt.place import Place, nearest
from hbench.prompt.sandbox import BUDGET_KEY, LEFT_OUT, Budget, PromptEnvironment
from hbench.spec.task import Paragraph, Task

Adapter = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Prepares template values from a row: what it returns is added to the row's own values."""


class Components(Protocol):
    """The part of the plugin registry that prompts and records need."""

    def get(self, kind: str, name: str, *, suite: str | None = None) -> Any:
        """Return the named component."""
        ...


class PromptRenderer:
    """Renders a task's prompt; its templates are compiled once.

    Parameters
    ----------
    task : Task
        The task.
    registry : Registry, optional
        Where the prompt's adapter is looked up (default: the installed plugins, if there is an adapter).
    folder : path, optional
        Folder of the task's YAML file; template files are relative to it.
    root : path, optional
        Folder of the suite, which template files cannot leave (default: `folder`).
    file : path, optional
        The YAML file, for error messages; implies `folder`.

    Raises
    ------
    SpecError
        If a template is malformed, leaves the suite's folder or does what a prompt must not do.
    """

    def __init__(
        self,
        task: Task,
        *,
        registry: Components | None = None,
        folder: Path | None = None,
        root: Path | None = None,
        file: Path | None = None,
    ) -> None:
        self.task = task
        self._folder = folder if folder is not None or file is None else file.parent
        self._root = root or self._folder
        if file is None and self._folder is not None:
            file = self._folder / f"{task.task}.yaml"
        self._place = Place(file, self._folder, task.name)
        self._environment = PromptEnvironment()
        self.names: frozenset[str] = frozenset()
        """All names that the templates use, apart from the values that an adapter may add."""
        prompt = task.prompt
        self._adapter = None if prompt.adapter is None else _find_adapter(prompt.adapter, task.suite, registry)
        self._system = None if prompt.system is None else self._compile(prompt.system)
        self._template = None if prompt.template is None else self._read_template(prompt.template)
        self._paragraphs = tuple(self._compile_paragraph(paragraph) for paragraph in prompt.paragraphs)

    @property
    def sections(self) -> frozenset[str]:
        """Names of the sections that can be left out."""
        return frozenset(part.section for part in self.task.prompt.paragraphs if part.section is not None)

    def check(self, columns: Collection[str]) -> None:
        """Refuse names that no column has, where no adapter could add them.

        Raises
        ------
        SpecError
            With the nearest column.
        """
        if self._adapter is not None:
            return
        for name in sorted(self.names - {"row", "without"} - set(columns)):
            raise SpecError(
                f"the prompt uses {name!r}, which is no column of the table",
                task=self.task.name,
                hint=nearest(name, columns),
                **self._place.of(name),
            )

    def _adapted(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._adapter is None:
            return {}
        with foreign(f"the prompt's adapter {self.task.prompt.adapter!r}", DataError, task=self.task.name):
            return self._adapter(row)

    def render(self, row: Mapping[str, Any], *, without: Collection[str] = ()) -> tuple[Message, ...]:
        """Render the prompt.

        A sentence that uses a missing value (None, NaN, absent) is left out, and so is a paragraph without sentences.

        Parameters
        ----------
        row : mapping
            Values by column.
        without : collection of str
            Sections to leave out. A section that the prompt does not have is no error, since ablations run over many
            tasks.

        Returns
        -------
        tuple of Message
            The system's turn, where there is one, and the user's.

        Raises
        ------
        DataError
            If nothing is left, or a value outside any sentence is missing.
        SpecError
            If a template fails.
        """
        values = {**row, **self._adapted(row)}
        known = {name: value for name, value in values.items() if not is_missing(value)}
        left_out = frozenset(without)
        context = {**self._environment.globals, "row": known, "without": left_out, **known, BUDGET_KEY: Budget()}
        system = "" if self._system is None else self._whole(self._system, context)
        context[BUDGET_KEY] = Budget()
        if self._template is not None:
            user = self._whole(self._template, context)
        else:
            paragraphs = (part.render(context, self._run) for part in self._paragraphs if part.section not in left_out)
            user = "\n\n".join(text for text in paragraphs if text)
        if not user:
            raise DataError("the prompt is empty: every sentence lacks a value", task=self.task.name)
        turn = Message("user", user)
        return (Message("system", system), turn) if system else (turn,)

    def render_arms(
        self, row: Mapping[str, Any], treatment: str, values: Iterable[Any], *, without: Collection[str] = ()
    ) -> tuple[tuple[Message, ...], ...]:
        """Render one prompt for each value of a treatment, all else equal."""
        return tuple(self.render({**row, treatment: value}, without=without) for value in values)

    def _whole(self, piece: _Piece, context: dict[str, Any]) -> str:
        """Render a text that is one piece, with `sentence` tags in it."""
        try:
            text = self._run(piece, context)
        except AbsentError as error:
            raise DataError(
                f"the prompt needs a value that this row lacks: {error}",
                task=self.task.name,
                hint="Test it with `is known`, or stand the sentence between {% sentence %} and {% endsentence %}.",
            ) from error
        if LEFT_OUT in text:
            text = re.sub(rf"[ \t]*{LEFT_OUT}", "", text)
            text = re.sub(r"\n[ \t]*(?:\n[ \t]*)+\n", "\n\n", text)
        return text.strip()

    def _run(self, piece: _Piece, context: dict[str, Any]) -> str:
        """Run one template. Absent values pass to the caller, whatever else goes wrong is the template's fault."""
        template = piece.template
        try:
            return "".join(template.root_render_func(template.new_context(context, shared=True)))
        except AbsentError:
            raise
        except HbenchError:
            raise
        except Exception as error:
            raise self._place.fault(error, piece.source, template) from error

    def _compile(self, source: str, name: str | None = None) -> _Piece:
        try:
            tree = self._environment.parse(source)
            self.names |= meta.find_undeclared_variables(tree) - set(self._environment.globals)
            return _Piece(source, self._environment.from_string(source))
        except TemplateError as error:
            raise self._place.fault(error, source) from error

    def _compile_paragraph(self, paragraph: Paragraph) -> _Paragraph:
        condition = None
        if paragraph.when is not None:
            condition = self._compile("{{ 1 if (" + paragraph.when + ") else '' }}")
        sentences = tuple(self._compile(sentence) for sentence in paragraph.sentences)
        return _Paragraph(sentences, condition, paragraph.section, paragraph.join)

    def _read_template(self, name: str) -> _Piece:
        if self._folder is None or self._root is None:
            raise SpecError(
                f"the template {name!r} is a file, and the task's folder is not known",
                task=self.task.name,
                hint="Give PromptRenderer the `folder` of the task's YAML file.",
            )
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._root.resolve()):
            raise SpecError(f"the template {name!r} lies outside the suite's folder", task=self.task.name)
        try:
            source = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError(f"the template cannot be read: {error}", file=path, task=self.task.name) from error
        self._place = Place(path, None, self.task.name)
        return self._compile(source)


@dataclass(frozen=True, slots=True)
class _Piece:
    source: str
    template: Template


@dataclass(frozen=True, slots=True)
class _Paragraph:
    sentences: Sequence[_Piece]
    condition: _Piece | None
    section: str | None
    join: str

    def render(self, context: dict[str, Any], run: Callable[[_Piece, dict[str, Any]], str]) -> str:
        if self.condition is not None and not _or_nothing(run, self.condition, context):
            return ""
        texts = (_or_nothing(run, sentence, context) for sentence in self.sentences)
        return self.join.join(text for text in texts if text)


def _or_nothing(run: Callable[[_Piece, dict[str, Any]], str], piece: _Piece, context: dict[str, Any]) -> str:
    try:
        return run(piece, context).replace(LEFT_OUT, "").strip()
    except AbsentError:
        return ""


def _find_adapter(name: str, suite: str, registry: Components | None) -> Adapter:
    if registry is None:
        from hbench.plugin import default_registry

        registry = default_registry()
    adapter: Adapter = registry.get("adapter", name, suite=suite)
    return adapter
