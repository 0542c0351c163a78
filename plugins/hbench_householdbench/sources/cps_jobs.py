"""Occupations and industries of the CPS in groups, as ranges of codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

Ranges = tuple[tuple[str, tuple[tuple[int, int], ...]], ...]
"""Label and the ranges of codes that it stands for, ends included; of two that hold a code the later one rules."""


def _one(*codes: int) -> tuple[tuple[int, int], ...]:
    return tuple((code, code) for code in codes)


OCCUPATION_GROUPS: Ranges = (
    ("Management, Business, Science, and Arts", ((10, 430),)),
    ("Business Operations Specialists", ((500, 740),)),
    ("Financial Specialists", ((800, 950),)),
    ("Computer and Mathematical", ((1005, 1240),)),
    ("Architecture and Engineering", ((1300, 1540),)),
    ("Technicians", ((1550, 1560),)),
    ("Life, Physical, and Social Science", ((1600, 1965),)),
    ("Community and Social Services", ((2000, 2060),)),
    ("Legal", ((2100, 2160),)),
    ("Education, Training, and Library", ((2200, 2550),)),
    ("Arts, Design, Entertainment, Sports, and Media", ((2600, 2920),)),
    ("Healthcare Practitioners and Technical", ((3000, 3540),)),
    ("Healthcare Support", ((3600, 3655),)),
    ("Protective Service", ((3700, 3955),)),
    ("Food Preparation and Serving", ((4000, 4150),)),
    ("Building and Grounds Cleaning and Maintenance", ((4200, 4250),)),
    ("Personal Care and Service", ((4300, 4650),)),
    ("Sales and Related", ((4700, 4965),)),
    ("Office and Administrative Support", ((5000, 5940),)),
    ("Farming, Fishing, and Forestry", ((6005, 6130),)),
    ("Construction", ((6200, 6765),)),
    ("Extraction", ((6800, 6940),)),
    ("Installation, Maintenance, and Repair", ((7000, 7630),)),
    ("Production", ((7700, 8965),)),
    ("Transportation and Material Moving", ((9000, 9750),)),
    ("Military Specific", ((9800, 9830),)),
)
"""Major groups of OCC2010."""
LAST_OCCUPATIONS: Ranges = (
    ("management occupations", ((10, 950),)),
    ("professional occupations", ((1000, 2960),)),
    ("sales occupations", ((4700, 4965),)),
    ("administrative support occupations", ((5000, 5940),)),
    ("protective service occupations", ((3700, 3955),)),
    ("other service occupations", ((3600, 3655), (4000, 4650))),
    ("production, craft, and repair occupations", ((6200, 7630),)),
    ("machine-operating and production occupations", ((7700, 8965),)),
    ("transportation and material-moving occupations", ((9000, 9750),)),
    ("farming occupations", ((6000, 6130),)),
    ("the armed forces", ((9840, 9840),)),
    ("laboring and cleaning occupations", _one(6260, 6600, 6930, 7610, 8950, 9610, 9620, 9640)),
    ("technical occupations", (*_one(1550, 1560, 2140, 2900, 9030, 9040), (3300, 3540))),
    ("professional occupations", ((3000, 3260),)),
    ("other service occupations", ((3600, 3650),)),
)
"""Groups of OCC (Census codes of 2002 and 2010) for the last job of the unemployed."""
LAST_INDUSTRIES: Ranges = (
    ("agriculture", ((170, 290),)),
    ("mining", ((370, 490),)),
    ("construction", ((770, 770),)),
    ("nondurable-goods manufacturing", ((1070, 2390),)),
    ("durable-goods manufacturing", ((2470, 3990),)),
    ("transportation, communications, and public utilities", ((6070, 6780),)),
    ("wholesale trade", ((4070, 4590),)),
    ("retail trade", ((4670, 5790),)),
    ("finance, insurance, and real estate", ((6870, 7190),)),
    ("entertainment services", ((8560, 8590),)),
    ("government", ((9370, 9590),)),
    ("professional services", ((7270, 7570), (7860, 8470), (9160, 9190))),
    ("business services", ((7580, 7790), (8770, 8870), *_one(7380, 7470))),
    ("personal services", ((8660, 8690), (8880, 9090), (9290, 9290))),
    ("transportation, communications, and public utilities", _one(570, 580, 590, 670, 680, 690)),
    ("the armed forces", ((9890, 9890),)),
)
"""Groups of IND (Census codes of 2002 and 2007) for the last job of the unemployed."""


def grouped(column: str, groups: Ranges) -> pl.Expr:
    """Return the labels of a column's codes; null where no group holds the code."""
    import polars as pl

    label: pl.Expr = pl.lit(None, pl.String)
    for name, ranges in groups:
        label = pl.when(_within(pl.col(column), ranges)).then(pl.lit(name)).otherwise(label)
    return label


def _within(code: pl.Expr, ranges: Iterable[tuple[int, int]]) -> pl.Expr:
    import polars as pl

    return pl.any_horizontal(code.is_between(low, high) for low, high in ranges)
