from __future__ import annotations

import random
import sys

from hbench.core.hashes import HashSet


def test_says_what_a_set_says() -> None:
    chance = random.Random(7)
    # Few low bits: slots collide. Many values: the table grows several times.
    values = [chance.getrandbits(50) << 14 | chance.getrandbits(10) for _ in range(3_000)]
    values += [*chance.choices(values, k=3_000), 0, 0, -1, -1, 2**64 - 1, 5, 2**64 + 5]
    ours, known = HashSet(), set[int]()
    for value in values:
        bits = value % 2**64
        assert ours.add(value) == (bits not in known)
        known.add(bits)


def test_takes_few_bytes_each() -> None:
    chance = random.Random(8)
    ours = HashSet()
    for count in range(1, 100_001):
        assert ours.add(chance.getrandbits(64))
        if count > 10_000 and not count % 1000:
            assert sys.getsizeof(ours._slots) <= 24 * count + 100
