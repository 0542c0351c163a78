"""What `import hbench` offers to scripts and notebooks: a run and its report, put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from hbench.report import render
from hbench.run import Result
from hbench.run.evaluate import evaluate as _evaluate

P = ParamSpec("P")


class Evaluation(Result):
    """An evaluation's scores, with the tables that a report makes of them."""

    def table(self) -> str:
        """Return the leaderboard as plain text."""
        return render([self.results], "text")


def _reported(run: Callable[P, Result]) -> Callable[P, Evaluation]:
    @wraps(run)
    def reported(*args: P.args, **kwargs: P.kwargs) -> Evaluation:
        result = run(*args, **kwargs)
        return Evaluation(result.path, result.results, result.asked)

    return reported


evaluate = _reported(_evaluate)
