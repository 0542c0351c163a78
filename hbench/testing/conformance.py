"""The conformance kit: what every suite must fulfil, in the order in which it is worth mending."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator

from hbench.core import SelectionError
from hbench.testing.import_checks import imports
from hbench.testing.kit import Check, Verdict
from hbench.testing.metric_laws import metrics
from hbench.testing.prompt_checks import leakage, missing
from hbench.testing.record_checks import answers, data, records, splits, treatment
from hbench.testing.source_checks import sources
from hbench.testing.spec_checks import components, parsers, specs
from hbench.testing.subject import SuiteUnderTest

CHECKS = (
    Check("specs", "task files are valid, and name what is there", specs, of="suite"),
    Check("imports", "registering the plugin imports nothing heavy", imports, of="suite"),
    Check("components", "components can be imported, and are what their kind demands", components, of="suite"),
    Check("parsers", "parsers refuse what they cannot read by name, and never raise", parsers),
    Check("sources", "sources make the same tables every time, in bounded memory", sources, of="suite"),
    Check("data", "data that need no raw files can be made", data),
    Check("records", "records are well formed, and no two have one name", records),
    Check("answers", "true and no-change answers are read by the task's own parser", answers),
    Check("missing", "prompts are whole sentences with every optional value missing", missing),
    Check("leakage", "prompts and predictors do not tell the true answer", leakage),
    Check("treatment", "every value of a treatment has a prompt of its own", treatment),
    Check("splits", "no row is in two splits, and nothing evaluated is for training", splits),
    Check("metrics", "metrics obey the laws of order, weights and bootstrap", metrics),
)


def check_suite(suite: SuiteUnderTest, *, only: Collection[str] = ()) -> Iterator[Verdict]:
    """Run the checks on a suite, one after the other.

    Parameters
    ----------
    suite : SuiteUnderTest
        The suite.
    only : collection of str
        Names of checks; all where empty.

    Raises
    ------
    SelectionError
        There is no check of a name.
    """
    names = [check.name for check in CHECKS]
    for name in only:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"checks: {', '.join(names)}"
            raise SelectionError(f"there is no check called {name!r}", hint=hint)
    for check in CHECKS:
        if not only or check.name in only:
            yield check(suite)
