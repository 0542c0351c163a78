"""The words of ``--log``: from ``NAME[:ARGUMENT][,key=value,...]`` to a logger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hbench.core import ModelError, RunError, Sampling, SelectionError
from hbench.core.errors import foreign
from hbench.interop.logged_run import RunLogger, logged_run
from hbench.model import ModelSpec

if TYPE_CHECKING:
    from hbench.plugin import Registry
    from hbench.run import Job, Result

_SECRETS = ("api_key", "apikey", "key", "token", "password")


def make_logger(words: str, registry: Registry) -> RunLogger:
    """Make the logger that `words` name.

    Raises
    ------
    SelectionError
        For words that are none, an unknown option, or a package that is not installed.
    PluginError
        Where no logger has the name.
    """
    try:
        spec = ModelSpec.parse(words)
        for name in spec.options:
            if name.lower() in _SECRETS:
                raise SelectionError(f"--log {spec.name}: keys come from the environment, not from the option {name}")
        factory = registry.get("logger", spec.name)
        if spec.sampling != Sampling():
            raise SelectionError(f"--log {spec.name}: settings of generation mean nothing here")
        with foreign(f"making the logger {spec.name}", SelectionError):
            logger: RunLogger = factory(spec.argument, spec.options)
    except ModelError as error:
        # The grammar is that of --model, and so are its messages.
        raise SelectionError(f"--log {error.message.removeprefix('model ')}", hint=error.hint) from error
    return logger


def log_run(job: Job, result: Result, loggers: Sequence[RunLogger]) -> Iterator[str]:
    """Hand a run that has been scored to loggers, and yield where each has put it.

    Raises
    ------
    RunError
        When one fails; the scores stay in the run's folder.
    """
    run = logged_run(job, result)
    for logger in loggers:
        with foreign("logging the scores", RunError, hint="They are in the run's folder all the same."):
            place = logger.log(run)
        yield place
