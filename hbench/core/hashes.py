"""A set that remembers millions of hashes in a few bytes each."""

from __future__ import annotations

from array import array

_BITS = 2**64 - 1


class HashSet:
    """64-bit hashes, in 12 to 24 bytes each where a set of Python's integers takes about a hundred.

    Open addressing with linear probing (Knuth, The Art of Computer Programming, vol. 3, section 6.4).
    """

    __slots__ = ("_free", "_mask", "_slots")

    def __init__(self) -> None:
        self._renew(1024)

    def add(self, value: int) -> bool:
        """Add a hash, of which the lowest 64 bits count, and say whether it was absent."""
        value = value & _BITS or 1  # An empty slot holds 0.
        slots, mask = self._slots, self._mask
        place = value & mask
        while there := slots[place]:
            if there == value:
                return False
            place = (place + 1) & mask
        slots[place] = value
        self._free -= 1
        if not self._free:
            self._renew(2 * len(slots))
            for kept in slots:
                if kept:
                    self.add(kept)
        return True

    def _renew(self, size: int) -> None:
        self._slots = array("Q", [0]) * size
        self._mask = size - 1
        self._free = 2 * size // 3
