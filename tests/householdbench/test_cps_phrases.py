"""Where people of the CPS live, in words."""

from __future__ import annotations

import pytest

from hbench_householdbench.phrases import cps
from hbench_householdbench.prompt_rules import forbidden_words
from hbench_householdbench.sources.cps_codes import LABELS

BIG = "Iowa, North Dakota, South Dakota, Nebraska, Kansas, Minnesota, or Missouri"


@pytest.mark.parametrize(
    ("state", "region", "place"),
    [
        ("Ohio", "Midwest", "in Ohio, in a metropolitan area, in the Midwest"),
        ("District of Columbia", "South", "in the District of Columbia, in a metropolitan area, in the South"),
        ("Michigan-Wisconsin", "Midwest", "in Michigan or Wisconsin, in a metropolitan area, in the Midwest"),
        (LABELS["state"][1][87], "Midwest", f"in {BIG}, in a metropolitan area, in the Midwest"),
        ("State not identified", "South", "in a metropolitan area, in the South"),
        ("State not identified", "State not identified", "in a metropolitan area"),
    ],
)
def test_place(state: str, region: str, place: str) -> None:
    assert cps.worker({"state": state, "region": region, "metro": "metropolitan area"})["place"] == place


def test_every_state_has_words() -> None:
    for label in LABELS["state"][1].values():
        place = cps.worker({"state": label})["place"]
        assert (place is None) == (label == "State not identified")
        assert place is None or (place.startswith("in ") and "-" not in str(place) and not forbidden_words(str(place)))
