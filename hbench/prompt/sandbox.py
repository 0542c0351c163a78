"""Templates from anywhere: they can format values, and do nothing else.

Jinja's sandbox keeps templates away from Python's internals. It does not bound their work, so here the language is cut
down to text, conditions and loops, strings cannot be multiplied, and every loop and output draws on a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

from jinja2 import TemplateSyntaxError, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from hbench.prompt.formats import FORMATS, plain
from hbench.prompt.missing import Absent, AbsentError, is_missing

BUDGET = 1_000_000
"""Characters that one message may write, its loops' steps included."""
BUDGET_KEY = "__budget"
LEFT_OUT = "\x00"
"""Marks the place of a sentence that was left out."""

_MAX_ITEMS = 10_000
_MAX_BITS = 256
# fmt: off
_BUILT_IN = frozenset({
    "abs", "capitalize", "default", "first", "float", "int", "items", "last", "length", "list", "lower", "max",
    "min", "reverse", "round", "sort", "sum", "title", "trim", "unique", "upper",
})
_METHODS = frozenset({
    "capitalize", "changed", "count", "cycle", "endswith", "get", "index", "items", "keys", "lower", "startswith",
    "strip", "title", "upper", "values",
})
# fmt: on
_STATEMENTS = (nodes.Assign, nodes.For, nodes.If, nodes.Output, nodes.With)


class Budget:
    """Work that one rendering may still do."""

    __slots__ = ("left",)

    def __init__(self, left: int = BUDGET) -> None:
        self.left = left

    def spend(self, amount: int) -> None:
        """Take `amount` off; raise when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise SecurityError(f"the prompt grows beyond {BUDGET:,} characters or steps")


class Sentence(Extension):
    """``{% sentence %}...{% endsentence %}``: left out, with the blanks before it, where a value in it is missing."""

    tags = {"sentence"}  # noqa: RUF012 (Jinja's own form)

    def parse(self, parser: Parser) -> nodes.Node:
        """Turn the tag into a guarded block."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endsentence",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_guard"), [], [], body).set_lineno(line)

    def _guard(self, caller: Macro) -> str:
        try:
            return str(caller())
        except AbsentError:
            return LEFT_OUT


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """Jinja for prompts: strict about missing values, bounded in work, without access to files."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            autoescape=False,  # prompts are plain text
            undefined=Absent,
            finalize=_written,
            extensions=[Sentence],
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
        )
        self.filters = {name: self.filters[name] for name in _BUILT_IN}
        self.filters.update(FORMATS, join=_join, metered=_metered, bounded=_bounded, concatenated=_concatenated)
        self.tests.update(known=_known, missing=is_missing)
        self.globals = {"range": _range}

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Allow data, and the methods that cannot make much of little."""
        return super().is_safe_attribute(obj, attr, value) and (not callable(value) or attr in _METHODS)

    def wrap_str_format(self, value: Any) -> None:
        """Leave `str.format` to `is_safe_attribute`, which refuses it."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute or item; a missing one as such."""
        return self._guarded(super().getattr(obj, attribute), attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an item or attribute; a missing one as such."""
        return self._guarded(super().getitem(obj, argument), str(argument))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute, unless the result would be huge."""
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            return super().call_binop(context, operator, left, right)
        texts = [side for side in (left, right) if isinstance(side, str | list | tuple)]
        if texts and operator != "+":
            raise SecurityError(f"`{operator}` is for numbers; there are filters for texts and lists")
        if sum(map(len, texts)) > _MAX_ITEMS:
            raise SecurityError(f"a text or list grows beyond {_MAX_ITEMS:,} parts")
        whole = isinstance(left, int) and isinstance(right, int)
        if whole and operator in ("*", "**"):
            bits = left.bit_length() + right.bit_length() if operator == "*" else left.bit_length() * abs(right)
            if bits > _MAX_BITS:
                raise SecurityError("a number grows beyond all use")
        return super().call_binop(context, operator, left, right)

    def _guarded(self, value: Any, name: str) -> Any:
        if not isinstance(value, Undefined) and is_missing(value):
            return self.undefined(obj={}, name=name)
        return value

    def _generate(
        self, source: nodes.Template, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        _restrict(source, name, filename)
        source.set_environment(self)
        return super()._generate(source, name, filename, defer_init=defer_init)


def _restrict(tree: nodes.Template, name: str | None, filename: str | None) -> None:
    """Refuse statements that a prompt does not need, and put loops and concatenations on the budget."""
    for statement in tree.find_all(nodes.Stmt):
        guard = isinstance(statement, nodes.CallBlock) and isinstance(statement.call.node, nodes.ExtensionAttribute)
        recursive = isinstance(statement, nodes.For) and statement.recursive
        if not (guard or isinstance(statement, _STATEMENTS)) or recursive:
            kind = "recursive loop" if recursive else type(statement).__name__.lower()
            raise TemplateSyntaxError(
                f"a prompt has no {kind}; text, `if`, `for`, `set`, `with` and `sentence` are what there is",
                statement.lineno or 1,  # statements that Jinja adds by itself have none
                name,
                filename,
            )
    for word in tree.find_all(nodes.Name):
        if word.name.startswith("__"):
            raise TemplateSyntaxError(f"`{word.name}` is no name for a column", word.lineno, name, filename)
    for loop in list(tree.find_all(nodes.For)):
        literal = sum(len(data.data) for data in loop.find_all(nodes.TemplateData))
        loop.iter = _filtered(loop.iter, "metered", [nodes.Const(literal + 1)])
    for assignment in list(tree.find_all(nodes.Assign)):
        assignment.node = _filtered(assignment.node, "bounded", [])
    for block in list(tree.find_all(nodes.With)):
        block.values = [_filtered(value, "bounded", []) for value in block.values]
    for output in list(tree.find_all(nodes.Concat)):
        # The node is turned into the filter's argument in place, since its parent is not known here.
        parts = nodes.List(output.nodes, lineno=output.lineno)
        output.nodes = [_filtered(parts, "concatenated", [])]


def _filtered(node: nodes.Node, name: str, arguments: list[nodes.Expr]) -> nodes.Filter:
    return nodes.Filter(node, name, arguments, [], None, None, lineno=node.lineno)


def _budget(context: Context) -> Budget:
    budget = context.parent[BUDGET_KEY]
    if not isinstance(budget, Budget):
        raise SecurityError(f"`{BUDGET_KEY}` is no name for a column")
    return budget


@pass_context
def _written(context: Context, value: Any) -> Any:
    """Prepare what an output writes: whole floats lose their decimals, missing values raise."""
    if isinstance(value, Undefined):
        return str(value)  # raises
    if is_missing(value):
        raise AbsentError("a value is missing")
    if not isinstance(value, str | Real | Decimal | date):
        raise TypeError(f"a {type(value).__name__} cannot be written; use a filter such as `listing`")
    text = plain(float(value)) if isinstance(value, float) else str(value)
    _budget(context).spend(len(text))
    return text


@pass_context
def _metered(context: Context, values: Iterable[Any], cost: int) -> Iterator[Any]:
    budget = _budget(context)
    if isinstance(values, Undefined):
        bool(values)  # raises
    for value in values:
        budget.spend(cost)
        yield context.environment.undefined(name="item") if is_missing(value) else _bounded(context, value)


@pass_context
def _bounded(context: Context, value: Any) -> Any:
    """Pass a value on, unless it is a nest of lists that doubles with every step."""
    parts = [value]
    seen = 0
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            parts.extend(part.values())
        elif isinstance(part, list | tuple):
            parts.extend(part)
        seen += 1
        if seen + len(parts) > _MAX_ITEMS:
            raise SecurityError(f"a list grows beyond {_MAX_ITEMS:,} parts")
    _budget(context).spend(seen - 1)
    return value


@pass_context
def _concatenated(context: Context, values: Iterable[Any]) -> str:
    texts = [str(_written(context, value)) for value in values]
    if sum(map(len, texts)) > _MAX_ITEMS:
        raise SecurityError(f"a text grows beyond {_MAX_ITEMS:,} characters")
    return "".join(texts)


@pass_context
def _join(context: Context, values: Iterable[Any], separator: str = "") -> str:
    texts = [str(_written(context, value)) for value in values]
    _budget(context).spend(len(separator) * len(texts))
    return separator.join(texts)


def _range(*bounds: int) -> range:
    span = range(*bounds)
    if len(span) > _MAX_ITEMS:
        raise SecurityError(f"a range has at most {_MAX_ITEMS:,} numbers")
    return span


def _known(value: Any) -> bool:
    return not is_missing(value)
