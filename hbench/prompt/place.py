"""Where in the YAML a template's fault is."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from jinja2 import TemplateSyntaxError
from jinja2.environment import Template

from hbench.core import SpecError


class FileLine(TypedDict, total=False):
    """Keyword arguments of an error."""

    file: Path
    line: int


@dataclass(frozen=True, slots=True)
class Place:
    """A task's file, and the shared ones beside it that its paragraphs may come from.

    Typed tasks carry no lines. So the line is searched for, once something is wrong: the template's own text stands in
    the file, or its first words do.
    """

    file: Path | None
    folder: Path | None
    task: str

    def fault(self, error: Exception, source: str, template: Template | None = None) -> SpecError:
        """Turn what a template raised into an error that names file and line."""
        within = error.lineno if isinstance(error, TemplateSyntaxError) else _line_of(error, template)
        lines = source.splitlines() or [""]
        culprit = lines[min(max(within or 1, 1), len(lines)) - 1].strip()
        kind = "" if isinstance(error, TemplateSyntaxError) else f" ({type(error).__name__})"
        message = getattr(error, "message", None) or str(error)
        return SpecError(
            f"the prompt's template fails: {message}{kind}",
            task=self.task,
            hint=f"In: {culprit if len(culprit) <= 160 else culprit[:159] + '…'}",
            **self.of(culprit),
        )

    def of(self, text: str) -> FileLine:
        """Find the file and line where `text` begins."""
        for file in self._files():
            # Lines may be folded in YAML, so that only the beginning is sure to stand on one line.
            for wanted in (text, text[:40], text[:20]):
                for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                    if wanted and wanted in line:
                        return FileLine(file=file, line=number)
        return FileLine(file=self.file) if self.file is not None and self.file.is_file() else FileLine()

    def _files(self) -> Iterator[Path]:
        if self.file is not None and self.file.is_file():
            yield self.file
        if self.folder is not None:
            yield from sorted(self.folder.glob("_*.yaml"))


def nearest(word: str, words: Collection[str]) -> str | None:
    """Suggest the word that was meant, if there is one like it."""
    close = difflib.get_close_matches(word, words, n=1)
    return f"Did you mean {close[0]!r}?" if close else None


def _line_of(error: BaseException, template: Template | None) -> int | None:
    line = None
    trace = error.__traceback__
    while trace is not None and template is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line
