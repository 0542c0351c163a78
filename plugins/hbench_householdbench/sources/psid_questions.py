"""Which variables of the Complete Main Study hold which question, wave by wave."""

# Tables of numbers are easier to compare with the codebook in rows than one to a line.
# fmt: off

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """The variables of a figure and of how accurate it is."""

    value: str
    accuracy: str


_REFERENCE_REASONS = {
    1968: (201, 201), 1969: (643, 651), 1970: (1282, 1332), 1971: (1988, 2038), 1972: (2586, 2638),
    1973: (3119, 3155), 1974: (3534, 3571), 1975: (3986, 4026), 1976: (4490, 4556), 1977: (5399, 5458),
    1978: (5890, 5986), 1979: (6501, 6559), 1980: (7104, 7161), 1981: (7727, 7809), 1982: (8391, 8470),
    1983: (9022, 9107), 1984: (10539, 10609), 1985: (11679, 11764), 1986: (13079, 13160), 1987: (14177, 14256),
    1988: (15240, 15328), 1989: (16741, 16843), 1990: (18179, 18267), 1991: (19479, 19567),
    1992: (20779, 20867),
}
"""Why the last job ended: of those with a job, and of those without one. Of 1968 there is one variable for both."""
_SPOUSE_REASONS = {
    1976: (4873, 4940), 1979: (6600, 6631), 1980: (7202, 7233), 1981: (7893, 7922), 1982: (8551, 8577),
    1983: (9201, 9236), 1984: (10753, 10809), 1985: (12042, 12127), 1986: (13256, 13328), 1987: (14350, 14420),
    1988: (15542, 15630), 1989: (17060, 17162), 1990: (18481, 18569), 1991: (19781, 19869),
    1992: (21081, 21169),
}
"""As for reference persons; spouses were not asked in the other waves."""
_HOURS = {
    1968: (47, 48, 53, 54), 1969: (465, 466, 475, 476), 1970: (1138, 1139, 1148, 1149),
    1971: (1839, 1840, 1849, 1850), 1972: (2439, 2440, 2449, 2450), 1973: (3027, 3028, 3035, 3036),
    1974: (3423, 3424, 3431, 3432), 1975: (3823, 3824, 3831, 3832), 1976: (4332, 4333, 4344, 4345),
    1977: (5232, 5233, 5244, 5245), 1978: (5731, 5732, 5743, 5744), 1979: (6336, 6337, 6348, 6349),
    1980: (6934, 6935, 6946, 6947), 1981: (7530, 7531, 7540, 7541), 1982: (8228, 8229, 8238, 8239),
    1983: (8830, 8831, 8840, 8841), 1984: (10037, 10038, 10131, 10132), 1985: (11146, 11141, 11258, 11253),
    1986: (12545, 12540, 12657, 12652), 1987: (13745, 13740, 13809, 13804), 1988: (14835, 14830, 14865, 14860),
    1989: (16335, 16330, 16365, 16360), 1990: (17744, 17739, 17774, 17769), 1991: (19044, 19039, 19074, 19069),
    1992: (20344, 20339, 20374, 20369),
}
"""Hours of work in the year before: of the reference person and their accuracy, of the spouse and theirs."""
_FOOD = {
    1969: (500, 506), 1970: (1175, 1185), 1971: (1876, 1886), 1972: (2476, 2480), 1974: (3441, 3445),
    1975: (3841, 3853), 1976: (4354, 4368), 1977: (5271, 5273), 1978: (5770, 5772), 1979: (6376, 6378),
    1980: (6972, 6974), 1981: (7564, 7566), 1982: (8256, 8258), 1983: (8864, 8866), 1984: (10235, 10237),
    1985: (11375, 11377), 1986: (12774, 12776), 1987: (13876, 13878), 1990: (17807, 17809),
    1991: (19107, 19109), 1992: (20407, 20409),
}
"""Spending on food at home and away from home; each is followed by its accuracy. The other waves did not ask."""
# fmt: on

REASONS = {
    role: {wave: (f"V{employed}", f"V{unemployed}") for wave, (employed, unemployed) in table.items()}
    for role, table in (("rp", _REFERENCE_REASONS), ("sp", _SPOUSE_REASONS))
}
"""Variables by role (reference person, spouse) and wave."""
HOURS = {
    role: {wave: Question(f"V{numbers[place]}", f"V{numbers[place + 1]}") for wave, numbers in _HOURS.items()}
    for role, place in (("rp", 0), ("sp", 2))
}
FOOD = {
    wave: (Question(f"V{home}", f"V{home + 1}"), Question(f"V{away}", f"V{away + 1}"))
    for wave, (home, away) in _FOOD.items()
}
"""Food at home and away from home, by wave."""


def variables() -> tuple[str, ...]:
    """Return all variables of these questions, each once."""
    return tuple(dict.fromkeys(_all()))


def _all() -> Iterator[str]:
    for waves in REASONS.values():
        for pair in waves.values():
            yield from pair
    for questions in (*(by_wave.values() for by_wave in HOURS.values()), *FOOD.values()):
        for question in questions:
            yield question.value
            yield question.accuracy
