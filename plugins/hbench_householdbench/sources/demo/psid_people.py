"""What the synthetic PSID is made of: people, families, and what interviews know of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Person:
    """Somebody who has ever lived in a family of the study."""

    id: int
    sex: int
    born: int
    race: int
    sample: int
    """SAMPSTAT: 0 for those who married or moved in."""
    skill: float
    school: int
    occupation: int
    keen: float
    """Where in 0 to 1 the taste for working lies."""
    shock: float = 0.0
    scar: float = 0.0
    employed: bool = True
    lost: int = 0
    """Code of the reason in the year before the wave, 0 for none."""
    again: bool = False
    """Whether the loss is the same that was told the wave before."""
    hours: int = 0
    earnings: int = 0
    told: int | None = None
    """Wave in which a loss was told last."""
    worked: int | None = None
    """Last wave that shows work."""

    @property
    def lineage(self) -> int:
        """Number of the family of the first wave that the person descends from."""
        return self.id // 1000


@dataclass
class Family:
    """People who live together, the reference person first."""

    reference: Person
    partner: Person | None
    children: list[Person]
    region: int
    metro: int
    married: bool = True
    home: int = 2
    savings: float = 0.0
    investments: float = 0.0
    equity: float = 0.0
    debt: float = 0.0
    taste: float = 0.0
    asked: bool = True
    income: int = 0
    food: tuple[int, int] = (0, 0)

    @property
    def adults(self) -> list[Person]:
        """The reference person, and the partner where there is one."""
        return [self.reference, self.partner] if self.partner else [self.reference]

    @property
    def members(self) -> list[Person]:
        """All of them."""
        return [*self.adults, *self.children]


@dataclass(frozen=True)
class Interview:
    """What a wave knows of one family."""

    wave: int
    fuid: int
    people: tuple[tuple[Person, int, int, int, int, bool], ...]
    """Person, REL, hours, earnings, code of a loss, whether the person works at present."""
    family: dict[str, float]
    left: tuple[Person, ...]
    """Partners who moved out since the wave before."""


@dataclass
class Study:
    """All that happened.

    Attributes
    ----------
    people : list of Person
        By id.
    interviews : list of Interview
        By wave, then family.
    losses : dict
        Code by person and wave, of losses that were told for the first time.
    repeats : set
        Person and wave of losses that were told again a wave later.
    """

    people: list[Person] = field(default_factory=list)
    interviews: list[Interview] = field(default_factory=list)
    losses: dict[tuple[int, int], int] = field(default_factory=dict)
    repeats: set[tuple[int, int]] = field(default_factory=set)


def price(year: int) -> float:
    """Return the price level; that of 1968 is 1."""
    high, middle = min(max(year - 1968, 0), 14), min(max(year - 1982, 0), 10)
    return math.exp(0.06 * high + 0.035 * middle + 0.025 * max(year - 1992, 0))
