"""Whether a run is about the board's tasks and data, and its models are named."""

from __future__ import annotations

from collections.abc import Iterator

from hbench.run.plan import Plan
from hbench.submit.claims import Manifest
from hbench.submit.entry import Submission
from hbench.submit.inventory import ABOUT
from hbench.submit.refusal import Refusal


def compare_plan(claims: Manifest, plan: Plan, place: str) -> Iterator[Refusal]:
    """Yield how the tasks, specs, data and splits of a run differ from the board's."""
    names = {planned.name for planned in plan.tasks}
    for name in sorted(set(claims.tasks) ^ names):
        yield Refusal("task", place, f"{name} is not a task of this board by its full name")
    told = True
    for planned in plan.tasks:
        data, spec = claims.data.get(planned.name), claims.specs.get(planned.name)
        if data is None or spec is None:
            continue
        if spec != planned.spec_fingerprint:
            told = False
            ours = planned.spec_fingerprint
            yield Refusal("spec", place, f"{planned.name}: the task was another ({spec[:12]}, not {ours[:12]})")
        if (data.kind, data.fingerprint) != (planned.data.kind, planned.data.fingerprint):
            told = False
            yield Refusal(
                "data", place,
                f"{planned.name}: the data were others ({data.kind} {data.fingerprint[:12]}, not "
                f"{planned.data.kind} {planned.data.fingerprint[:12]})",
            )  # fmt: skip
        if data.splits != planned.splits or data.draws != planned.draws:
            told = False
            yield Refusal("data", place, f"{planned.name}: its splits or draws are not those of the settings")
    if told and names == set(claims.tasks) and plan.digest(claims.entrants()) != claims.plan:
        yield Refusal("plan", place, "the plan's digest is not that of its tasks, data, models and settings")


def origins(claims: Manifest, about: Submission, place: str) -> Iterator[Refusal]:
    """Yield models whose identity does not name them."""
    for model in claims.models:
        if model.identity.get("model") == "replay" and model.label not in about.models:
            yield Refusal(
                "identity", place,
                f"{model.label}: replayed answers do not say whose they are; name the model in {ABOUT}",
            )  # fmt: skip
