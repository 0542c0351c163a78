"""People asked once more: what their own variation makes of a score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hbench.core import Completion, JsonValue, ModelContext, ModelError, Outcome, Request
from hbench.model.baselines import Marginal, no_group
from hbench.model.options import Options


class HumanRetest(Marginal):
    """A bootstrap of the people: every answer is a person's, drawn with replacement from those evaluated.

    Where one prompt is asked many times the draws repeat one bootstrap sample of as many answers as there are people,
    so that the distance to the people is that of the bootstrap lower bound (BehaviorBench paper, "Lower bound for W"),
    not the smaller one of a larger sample.
    """

    name = "human_retest"

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> HumanRetest:
        """Make the baseline; it has no options."""
        if argument:
            raise ModelError(f"model {cls.name} takes no argument, got {argument!r}")
        Options(cls.name, options).finish()
        return cls(context, "sample", "records")

    @property
    def identity(self) -> Mapping[str, Any]:
        """Name and the evaluation's seed."""
        return {"model": self.name, "seed": self.context.seed}

    def outcome(self, request: Request, draw: int) -> Outcome:
        """Answer as one of the people of the record's group."""
        texts = self._record_texts(request.record.task).get(request.record.group)
        if not texts:
            return no_group(request)
        return Completion(texts[self._seed(request, draw % len(texts)) % len(texts)])
