"""The command line: a table of commands, each imported when it is called."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

import click

# Help must not import what the commands need, so their one-liners stand here.
COMMANDS = {
    "eval": "Ask models and score their answers.",
    "score": "Score a prediction file against a record file.",
    "rescore": "Score a run again from its journal.",
    "report": "Show the scores of runs.",
    "view": "Show a site that `report --html` made.",
    "ess": "Tell how many human observations a model is worth.",
    "query": "Ask a run's rows in SQL.",
    "sft": "Fine-tune a model on a suite's training data, and measure what it gains.",
    "ls": "List tasks, suites, models and other components.",
    "show": "Show a task, or a run.",
    "data": "Make, fetch, export and inspect data.",
    "export": "Hand tasks to other evaluation frameworks.",
    "submit": "Check results for a public board.",
    "validate": "Check task files.",
    "schema": "Print the JSON Schema of task files, for editors.",
    "new": "Write the beginnings of a suite or a task.",
    "check": "Check a suite with the conformance kit.",
    "plugins": "List plugins and what they bring.",
    "doctor": "Check this installation.",
}


class LazyGroup(click.Group):
    """A group whose commands are modules, with the plugins' commands behind them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the built-in commands; help does not load plugins."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, or ask the plugins for one that is not ours."""
        if cmd_name not in COMMANDS:
            return _plugin_commands().get(cmd_name)
        command: click.Command = importlib.import_module(f"hbench.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        formatter.write_paragraph()
        formatter.write_text("Plugins may bring further commands; `hbench plugins` tells which.")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command where there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error


def _plugin_commands() -> Mapping[str, click.Command]:
    """Return the commands that plugins bring; one plugin that fails is told of and takes no other down."""
    from hbench.cli.terminal import say
    from hbench.plugin import default_registry, plugin_modules

    commands: dict[str, click.Command] = {}
    owners: dict[str, list[str]] = {}
    for plugin, module in plugin_modules(default_registry(), "hbench_commands"):
        group = click.Group()
        try:
            module.hbench_commands(group)
        except Exception as error:  # noqa: BLE001 - a plugin is foreign code
            say(f"hbench: the commands of {plugin.name} ({plugin.distribution}) fail: {error!r}", err=True)
            continue
        for name, command in group.commands.items():
            commands[name] = command
            owners.setdefault(name, []).append(f"{plugin.name} ({plugin.distribution})")
    for name, brought_by in owners.items():
        if len(brought_by) > 1:
            say(f"hbench: several plugins bring the command {name!r}: {', '.join(brought_by)}", err=True)
            del commands[name]
    return commands


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="hbench")
@click.option("--no-plugin", "blocked", multiple=True, metavar="NAME", help="Leave a plugin out.")
@click.option("--strict-plugins", is_flag=True, help="Make a broken plugin an error.")
def cli(blocked: Sequence[str], strict_plugins: bool) -> None:
    """Evaluate how well models predict what people do."""
    # The environment is how these choices reach worker processes too.
    if blocked:
        os.environ["HBENCH_NO_PLUGINS"] = ",".join(blocked)
    if strict_plugins:
        os.environ["HBENCH_STRICT_PLUGINS"] = "1"


@contextmanager
def _orderly_ends() -> Iterator[list[int]]:
    """Let SIGTERM end a command as Ctrl-C does, so that what is half done is cleared away; yield the signals met."""
    met: list[int] = []

    def end(number: int, frame: object) -> None:
        met.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield met
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield met
    finally:
        signal.signal(signal.SIGTERM, before)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0: done. 1: done, with more invalid or failed records than allowed. 2: a mistake in command, input or set-up.
    130 and 143: interrupted, by Ctrl-C and SIGTERM.
    """
    from hbench.core.disk import disk_hint
    from hbench.core.errors import HbenchError
    from hbench.core.legible import legible

    try:
        with _orderly_ends() as stopped:
            result: Any = cli.main(args=None if args is None else list(args), prog_name="hbench", standalone_mode=False)
    except HbenchError as error:
        if os.environ.get("HBENCH_TRACEBACK"):
            raise
        click.echo(legible(f"hbench: {error}"), err=True)
        return 2
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        told = StringIO()
        error.show(told)
        click.echo(legible(told.getvalue()), err=True, nl=False)
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("hbench: interrupted; the same command begins or goes on again", err=True)
        return 128 + stopped[0] if stopped else 130
    except BrokenPipeError:
        # The reader (`head`, say) has what it wanted; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        hint = disk_hint(error)
        if hint is None or os.environ.get("HBENCH_TRACEBACK"):
            raise
        place = f"{error.filename}: " if error.filename else ""
        click.echo(legible(f"hbench: {place}{error.strerror or error}\n  {hint}"), err=True)
        return 2
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
