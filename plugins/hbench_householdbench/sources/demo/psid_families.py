"""Synthetic families of the PSID: who lives together, works, owns and loses jobs, year by year.

Earnings have a lasting part, shocks that fade (persistence 0.85) and a scar of a tenth to a fifth after a lost job,
when the partner works more; savings follow income, renters buy as they age and earn, couples part, children leave and
found families of their own, families drop out, some of them for one wave. The people are made up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from random import Random

from hbench.core import stable_seed
from hbench_householdbench.sources.demo.psid_people import Family, Interview, Person, Study, price
from hbench_householdbench.sources.psid_layout import EVENT_WAVES, WAVES
from hbench_householdbench.sources.psid_questions import REASONS

_SAMPLES = (
    # first number of a family, families at scale 1, first wave, race
    (1, 420, 1968, 1),
    (5001, 70, 1968, 2),
    (7001, 20, 1990, 4),
    (3001, 20, 1997, 3),
    (4001, 8, 2017, 4),
)
_FEWEST = 3
_LOSS = 0.055
"""Chance of a worker to lose the job in a year."""
_LEAVES_STUDY, _SKIPS_WAVE = 0.012, 0.02


@lru_cache(maxsize=2)
def study(seed: int, scale: float) -> Study:
    """Return the study of a seed, the same for all files that are written of it."""
    return _Simulation(Random(stable_seed(seed, "householdbench", "demo", "psid")), scale).run()


class _Simulation:
    def __init__(self, random: Random, scale: float) -> None:
        self._random = random
        self._scale = scale
        self._families: list[Family] = []
        self._study = Study()
        self._numbers: dict[tuple[int, bool], int] = {}
        self._left: dict[int, list[Person]] = {}

    def run(self) -> Study:
        for year in range(WAVES[0], WAVES[-1] + 1):
            for first, families, start, race in _SAMPLES:
                if start == year:
                    count = max(_FEWEST, round(families * self._scale))
                    self._families += [self._found(first + n, race, year) for n in range(count)]
            self._left = {}
            self._families = [changed for family in self._families for changed in self._live(family, year)]
            for number, family in enumerate(self._families, start=1):
                self._work(family, year)
                self._own(family, year)
                if year in WAVES and family.asked:
                    self._interview(family, year, number)
        self._study.people.sort(key=lambda person: person.id)
        return self._study

    def _person(
        self, lineage: int, race: int, born: int, sex: int, sample: int, parent: Person | None = None
    ) -> Person:
        r = self._random
        # Numbers below 170 are those of sample members, by order of entry.
        place = self._numbers.get((lineage, sample > 0), 1 if sample else 170)
        self._numbers[lineage, sample > 0] = place + 1
        school = 12 + r.choice((-4, -2, -1, 0, 0, 0, 0, 1, 2, 2, 4, 4, 5)) + (1 if born > 1945 else 0)
        skill = r.gauss(0, 0.42) if parent is None else 0.4 * parent.skill + r.gauss(0, 0.38)
        group = min(3, max(0, round(1.8 - 1.6 * skill - 0.45 * (school - 12) + r.gauss(0, 0.8))))
        occupation = 4 if r.random() < 0.02 else group
        person = Person(lineage * 1000 + place, sex, born, race, sample, skill, min(school, 17), occupation, r.random())
        self._study.people.append(person)
        return person

    def _found(self, lineage: int, race: int, year: int) -> Family:
        r = self._random
        age = min(70, max(20, round(r.gauss(39, 12))))
        if r.random() < 0.06:
            race = 3 if race == 1 else 1
        couple = r.random() < 0.75
        reference = self._person(lineage, race, year - age, 1 if couple or r.random() < 0.35 else 2, 1)
        partner = self._person(lineage, race, year - age + r.randint(-3, 5), 2, 1) if couple else None
        children = [
            self._person(lineage, race, year - r.randint(0, min(17, age - 19)), r.randint(1, 2), 1)
            for _ in range(r.choice((0, 1, 2, 2, 3)) if 21 < age < 58 else 0)
        ]
        family = Family(reference, partner, children, r.choice((1, 2, 2, 3, 3, 3, 4)), int(r.random() < 0.65))
        family.home = 1 if r.random() < 0.15 + 0.011 * (age - 20) else 2 if r.random() < 0.93 else 3
        family.taste = r.gauss(0, 0.22)
        family.savings = price(year) * 900 * math.exp(r.gauss(0, 1.1))
        family.equity = price(year) * 6000 * math.exp(r.gauss(0, 0.6)) if family.home == 1 else 0.0
        return family

    def _live(self, family: Family, year: int) -> Iterator[Family]:
        """Let people be born, leave, meet, part and die; yield what becomes of the family."""
        r = self._random
        if r.random() < _LEAVES_STUDY:
            return
        family.asked = r.random() > _SKIPS_WAVE
        for person in family.adults:
            if r.random() < 0.0006 * math.exp(0.085 * max(0, year - person.born - 40)):
                survivor = family.partner if person is family.reference else family.reference
                if survivor is None:
                    return
                family.reference, family.partner = survivor, None
                break
        yield from self._leavers(family, year)
        partner, age = family.partner, year - family.reference.born
        if partner is None and 19 < age < 50 and r.random() < 0.14:
            self._meet(family, year)
        elif partner is not None and r.random() < 0.016:
            yield from self._part(family, partner, year)
        young = min(year - person.born for person in family.adults)
        if family.partner and young < 41 and len(family.children) < 4 and r.random() < 0.12:
            lineage = next((p for p in family.adults if p.sample), family.reference)
            family.children.append(
                self._person(lineage.lineage, lineage.race, year - 1, r.randint(1, 2), 2, family.reference)
            )
        yield family

    def _leavers(self, family: Family, year: int) -> Iterator[Family]:
        r = self._random
        for child in list(family.children):
            age = year - child.born
            if age < 19 or r.random() > (0.16 if age < 30 else 0.5):
                continue
            family.children.remove(child)
            own = Family(child, None, [], family.region if r.random() < 0.85 else r.randint(1, 4), family.metro)
            own.home = 2 if r.random() < 0.9 else 3
            own.taste = 0.5 * family.taste + r.gauss(0, 0.18)
            own.savings = price(year) * 250 * math.exp(r.gauss(0, 1))
            yield own

    def _meet(self, family: Family, year: int) -> None:
        r, single = self._random, family.reference
        born = min(single.born + r.randint(-4, 4), year - 18)
        other = self._person(single.lineage, single.race, born, 3 - single.sex, 0)
        # The man of a couple was the reference person.
        family.reference, family.partner = (single, other) if single.sex == 1 else (other, single)
        family.married = r.random() < 0.85

    def _part(self, family: Family, partner: Person, year: int) -> Iterator[Family]:
        r = self._random
        stays, leaves = family.reference, partner
        if not stays.sample and partner.sample:
            stays, leaves = partner, stays
        family.reference, family.partner = stays, None
        self._left.setdefault(stays.id, []).append(leaves)
        half = {name: getattr(family, name) / 2 for name in ("savings", "investments", "debt")}
        for name, value in half.items():
            setattr(family, name, value)
        if family.home == 1 and r.random() < 0.4:
            family.home, family.savings, family.equity = 2, family.savings + family.equity / 2, 0.0
        if leaves.sample:
            children, family.children = (family.children, []) if leaves.sex == 2 else ([], family.children)
            yield Family(leaves, None, children, family.region, family.metro, taste=family.taste, **half)

    def _work(self, family: Family, year: int) -> None:
        """Fill hours, earnings and lost jobs of the year before the wave."""
        r = self._random
        for person in family.adults:
            age = year - 1 - person.born
            person.again = False
            previous, person.lost = person.lost, 0
            if previous and not person.employed and r.random() < 0.35 and person.told == year - 1 and family.asked:
                person.lost, person.again = previous, True
            told_before = person.told is not None
            # A second loss can be told from the first only if the wave between shows work.
            clear = not told_before or (person.worked == year - 1 and person.told != year - 1)
            if not person.again and person.employed and clear and 19 < age < 66 and r.random() < _LOSS:
                person.lost = 1 if r.random() < 0.3 else 3
        for person in family.adults:
            other = next((one for one in family.adults if one is not person), None)
            self._earn(person, year, bool(other and other.lost and not other.again))
        returns = price(year - 1) * sum(0.004 * one for one in (family.savings, family.investments)) / price(year)
        old = sum(price(year) * 1900 for person in family.adults if year - person.born > 65)
        poor = 0 if any(person.earnings for person in family.adults) else price(year) * r.uniform(600, 1800)
        given = old + poor + price(year) * r.expovariate(1 / 350)
        family.income = round(sum(person.earnings for person in family.adults) + returns + given)
        size, real = len(family.members), max(1500.0, family.income / price(year))
        shock = -0.11 if any(person.lost for person in family.adults) else 0.0
        spent = (
            price(year)
            * 1150
            * math.exp(
                0.38 * math.log(real / 9000) + 0.42 * math.log(size / 2.5) + family.taste + shock + r.gauss(0, 0.16)
            )
        )
        away = min(0.6, max(0.0, r.gauss(0.19, 0.09)))
        family.food = (10 * round(spent * (1 - away) / 10), 10 * round(spent * away / 10))

    def _earn(self, person: Person, year: int, partner_lost: bool) -> None:
        r, age = self._random, year - 1 - person.born
        person.shock = 0.85 * person.shock + r.gauss(0, 0.13)
        person.scar *= 0.88
        wants = (
            person.keen < (0.95 if person.sex == 1 else 0.5 + 0.005 * min(year - 1968, 45))
            and age < 62 + 8 * person.keen
        )
        if person.lost and not person.again:
            person.scar -= r.uniform(0.08, 0.24)
            share, person.employed = r.uniform(0.3, 0.85), r.random() < 0.6
        elif person.again:
            share, person.employed = r.choice((0.0, 0.1)), False
        elif person.employed:
            share, person.employed = 1.0, wants and r.random() < 0.97
        else:
            finds = r.random() < ((0.6 if wants else 0.03) + (0.15 if partner_lost and age < 60 else 0.0))
            share, person.employed = (r.uniform(0.3, 0.9), True) if finds else (0.0, False)
        usual = (2080 if person.sex == 1 else 1650) * (1.07 if partner_lost else 1.0)
        person.hours = max(0, min(4500, round(share * (usual + r.gauss(0, 180)))))
        profile = 0.055 * (age - 20) - 0.00075 * (age - 20) ** 2
        wage = math.exp(0.85 + person.skill + 0.085 * (person.school - 12) + profile + person.shock + person.scar)
        wage *= 0.72 if person.sex == 2 else 1.0
        person.earnings = 10 * round(price(year - 1) * wage * person.hours * math.exp(r.gauss(0, 0.06)) / 10)

    def _own(self, family: Family, year: int) -> None:
        r, age = self._random, year - family.reference.born
        family.savings = max(0.0, family.savings * 1.01 + 0.05 * family.income * r.gauss(0.3, 1.3))
        family.investments = max(0.0, family.investments * math.exp(r.gauss(0.04, 0.2)))
        if family.savings > 0.5 * family.income:
            moved = 0.3 * family.savings
            family.savings, family.investments = family.savings - moved, family.investments + moved
        family.debt = max(0.0, 0.85 * family.debt + 0.03 * family.income * r.gauss(0.7, 1.0))
        if r.random() < 0.06:
            family.debt += family.income * r.uniform(0.2, 0.9)
        if family.home == 1:
            family.equity = max(-20_000.0, family.equity * math.exp(r.gauss(0.03, 0.1)) + 0.025 * family.income)
            if r.random() < 0.018:
                family.home, family.savings, family.equity = 2, family.savings + family.equity, 0.0
        else:
            real = family.income / price(year) / 9000
            chance = 0.015 + 0.05 * min(real, 2.5) + (0.02 if family.partner else 0.0) - 0.001 * max(0, age - 45)
            if r.random() < chance:
                family.home, family.equity = 1, 0.25 * family.income + 0.4 * family.savings
                family.savings *= 0.6
            elif r.random() < 0.02:
                family.home = 5 - family.home

    def _interview(self, family: Family, wave: int, number: int) -> None:
        people = []
        for person in family.members:
            rel = 1 if person is family.reference else 2 if person is family.partner else 3
            if rel < 3:
                self._tell(person, rel, wave)
                people.append((person, rel, person.hours, person.earnings, person.lost, person.employed))
            else:
                people.append((person, rel, 0, 0, 0, False))
        facts: dict[str, float] = {
            "income": family.income,
            "home": family.home,
            "region": family.region,
            "metro": family.metro,
            "married": bool(family.partner and family.married),
            # People know what they own and owe roughly.
            "savings": round(family.savings * math.exp(self._random.gauss(0, 0.5))),
            "investments": round(family.investments * math.exp(self._random.gauss(0, 0.5))),
            "equity": round(family.equity * math.exp(self._random.gauss(0, 0.25))),
            "debt": round(family.debt * math.exp(self._random.gauss(0, 0.4))),
            "food_home": family.food[0],
            "food_away": family.food[1],
        }
        left = tuple(self._left.get(family.reference.id, ()))
        self._study.interviews.append(Interview(wave, number, tuple(people), facts, left))

    def _tell(self, person: Person, rel: int, wave: int) -> None:
        """Note what the wave learns of work and of lost jobs."""
        asked = wave in REASONS["rp" if rel == 1 else "sp"] and wave in EVENT_WAVES
        if person.lost and asked:
            key = (person.id, wave)
            if person.again:
                self._study.repeats.add(key)
            else:
                self._study.losses[key] = person.lost
            person.told = wave
        if person.hours or person.employed:
            person.worked = wave
