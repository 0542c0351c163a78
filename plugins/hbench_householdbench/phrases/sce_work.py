"""Phrases on the work of people whom the Survey of Consumer Expectations asks."""

from __future__ import annotations

from hbench_householdbench.phrases import words
from hbench_householdbench.phrases.words import Row

YES = {"yes": "yes", "no": "no"}
WORK = {
    "Q10_1": "work full-time",
    "Q10_2": "work part-time",
    "Q10_3": "do not work but would like to",
    "Q10_4": "are temporarily laid off",
    # The questionnaire's words; a fifth flag, unlike the later ones, still ties a person to a job.
    "Q10_5": "are on sick leave or another leave from a job",
}
"""Work situations, of which several may apply. Retirees, students and homemakers have none of these."""
NO_WORK = "Q10_3"
DESCRIBED = {
    "Q10_1": "working full-time",
    "Q10_2": "working part-time",
    NO_WORK: "not working but wanting to",
    "Q10_4": "temporarily laid off",
    "Q10_5": "on sick leave or another leave from a job",
}
"""The same of people who also say that they do not work, which is told as what they say rather than as what is."""
EMPLOYER = {"work for someone else": "work for someone else", "are self-employed": "are self-employed"}
LOOKING = {"yes": "are looking for a job", "no": "are not looking for a job"}
_LONGEST = 240
"""Months out of work beyond which an answer is taken for an error."""


def situation(row: Row) -> dict[str, object]:
    """Return the phrases on work: what somebody does, in how many jobs and for whom, and the search for another."""
    work = _work(row)
    jobs = words.number(row, "Q11", least=0, most=19)
    return {
        "work": work,
        "jobs": None if jobs is None else words.count(jobs, "job"),
        "employer": words.phrase(row, "Q12new", EMPLOYER) if work else None,
        "looking": words.phrase(row, "Q15", LOOKING),
        "months_unemployed": months(row, "Q16"),
        "months_out_of_work": months(row, "Q19"),
    }


def months(row: Row, column: str) -> str | None:
    """Return how long a column says, where an error is not more likely."""
    return length(words.number(row, column, least=0, most=_LONGEST), "month")


def length(figure: float | None, unit: str) -> str | None:
    """Return ``3 years``, or ``less than a year``, since nobody has lived somewhere for no years."""
    return None if figure is None else words.count(figure, unit) if round(figure) else f"less than a {unit}"


def _work(row: Row) -> str | None:
    flags = [column for column in WORK if words.phrase(row, column, YES) == "yes"]
    if NO_WORK in flags and len(flags) > 1:
        return f"describe yourself as {words.join((DESCRIBED[column] for column in flags), last='and as')}"
    return words.join(WORK[column] for column in flags)
