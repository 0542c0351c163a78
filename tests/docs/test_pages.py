"""Every shell and Python block of the documentation is run, or says why not; every command that is named exists."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hbench.cli.main import cli
from tests.docs.blocks import Block, Shell, all_blocks, blocks, missing_lines

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = {
    "docs/ess.md": "test_ess.py",
    "docs/guides/your-survey.md": "test_guides.py",
    "docs/other-tools.md": "test_other_tools.py",
    "docs/public-board.md": "test_public_board.py",
}
"""Pages whose own tests run them and look at what comes out."""
REASONS = {
    "installs from the network",
    "needs a GPU",
    "needs a key",
    "needs raw files",
    "needs a release",
    "serves until it is stopped",
    "a part of a program",
    "minutes of work",
}
"""The reasons there are; a new one has to be thought about."""
_COMMAND_WORDS = ("hbench ", "pip ", "python ", "make ", "git ", "docker ", "accelerate ", "lm_eval ", "CMAKE_ARGS")
_CALL = re.compile(r"\bhbench ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)((?:[^\n`|&;#]|\\\n)*)")
_OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z][a-zA-Z-]*)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def is_shell(block: Block) -> bool:
    first = next((line for line in block.text.splitlines() if line.strip() and not line.startswith("#")), "")
    return block.language in ("bash", "sh", "shell", "console") or (
        not block.language and first.startswith(_COMMAND_WORDS)
    )


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_runs_or_says_why_not(page: Path) -> None:
    for block in all_blocks(page):
        place = f"{name_of(page)}, line {block.line}"
        if block.reason is not None:
            assert block.reason in REASONS, f"{place}: not run, since {block.reason!r}"
        elif is_shell(block):
            assert block.language == "bash", f"{place}: write ```bash, or <!-- not run: REASON --> before it"


def test_few_blocks_are_not_run() -> None:
    given = [block for page in PAGES for block in all_blocks(page) if is_shell(block) or block.language == "python"]
    left_out = [block for block in given if block.reason is not None]
    assert len(left_out) <= 20
    assert len(left_out) < len(given) / 2


def calls(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the commands of hbench that a page names, with what follows them."""
    for found in _CALL.finditer(page.read_text(encoding="utf-8")):
        yield found[1], found[2]


def resolve(words: str) -> click.Command | None:
    """Return the command that words name; a second word may be an argument."""
    group: click.Command = cli
    context = click.Context(cli)
    for word in words.split():
        if not isinstance(group, click.Group):
            break
        command = group.get_command(context, word)
        if command is None:
            return group if group is not cli and getattr(group, "invoke_without_command", False) else None
        group = command
    return group


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_and_option_that_is_named_exists(page: Path) -> None:
    for words, rest in calls(page):
        command = resolve(words)
        if command is None:
            assert words.split()[0] not in cli.list_commands(click.Context(cli)), f"hbench {words}"
            continue  # prose: "hbench evaluates ..."
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        for option in _OPTION.findall(rest):
            assert option in known | {"-h", "--help"}, f"{name_of(page)}: hbench {words} has no {option}"


def test_the_installation_has_every_extra_and_every_variable() -> None:
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [extra for extra in project["optional-dependencies"] if f"`{extra}`" not in page] == []
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "hbench").rglob("*.py")]
    variables = {name for text in code for name in re.findall(r"\bHBENCH_[A-Z]+(?:_[A-Z]+)*\b", text)}
    assert [name for name in sorted(variables) if f"`{name}`" not in page] == []


RUN = [page for page in PAGES if name_of(page) not in ELSEWHERE and any(map(is_shell, blocks(page)))]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("polars", "sklearn", "matplotlib", "hbench_wagepanel", "hbench_randhie"):
        pytest.importorskip(package)
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path / "data"))
    shell = Shell(tmp_path)
    try:
        for block in blocks(page):
            if block.title is not None or block.language in ("bash", "python"):
                shell.run(block)
    finally:
        shell.stop()


def test_there_are_pages_that_run() -> None:
    assert {"docs/start.md", "docs/scale.md"} <= {name_of(page) for page in RUN}


def test_pages_that_run_elsewhere_do() -> None:
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (ROOT / "tests/docs" / test).read_text(encoding="utf-8")


def test_shown_lines_must_be_said_in_order() -> None:
    said = "a 1\nb 2\nc 3\n"
    assert list(missing_lines("a 1\n...\nc 3\n", said)) == []
    assert list(missing_lines("a 1\nb ...\n", said)) == []
    assert list(missing_lines("c 3\na 1\n", said)) == ["a 1"]
    assert list(missing_lines("b 3\n", said)) == ["b 3"]
