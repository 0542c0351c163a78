"""Work beside the caller's: in order, bounded, and with its errors in their places."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from hbench.core import BuildReport
from hbench.data.overlap import THREADS, ahead, behind


def slow_first(item: int) -> int:
    time.sleep(0.02 if item % 3 == 0 else 0)
    return item * item


def refuse_four(item: int) -> int:
    if item == 4:
        raise ValueError("four")
    return item


def test_results_come_in_the_order_of_the_items() -> None:
    assert list(ahead(slow_first, range(10))) == [item * item for item in range(10)]
    assert list(ahead(slow_first, ())) == []


def test_items_are_worked_on_side_by_side() -> None:
    together = threading.Barrier(THREADS, timeout=10)

    def meet(item: int) -> int:
        together.wait()
        return item

    assert list(ahead(meet, range(2 * THREADS))) == list(range(2 * THREADS))


def test_no_more_results_wait_than_threads_work() -> None:
    taken = []

    def items() -> Iterator[int]:
        for item in range(20):
            taken.append(item)
            yield item

    for item in ahead(slow_first, items()):
        assert len(taken) <= round(item**0.5) + 1 + THREADS


def test_an_error_comes_in_the_place_of_its_result() -> None:
    results = ahead(refuse_four, range(9))
    assert [next(results) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="four"):
        next(results)


def test_work_behind_is_done_in_order_and_while_the_next_item_is_made() -> None:
    done: list[int] = []
    working, made = threading.Event(), threading.Event()

    def items() -> Iterator[int]:
        yield 0
        # The first item is being worked on while this one is made.
        assert working.wait(10)
        made.set()
        yield 1
        yield 2

    def work(item: int) -> None:
        working.set()
        assert made.wait(10)
        done.append(item)

    behind(work, items())
    assert done == [0, 1, 2]


def test_an_error_behind_is_raised() -> None:
    with pytest.raises(ValueError, match="four"):
        behind(refuse_four, range(5))
    with pytest.raises(ValueError, match="four"):
        behind(refuse_four, range(9))


def test_an_error_of_the_items_waits_for_the_work() -> None:
    done = []

    def items() -> Iterator[int]:
        yield 1
        raise LookupError("no second")

    def work(item: int) -> None:
        time.sleep(0.02)
        done.append(item)

    with pytest.raises(LookupError, match="no second"):
        behind(work, items())
    assert done == [1]


def test_reports_of_parts_add_up_in_their_order() -> None:
    whole, later = BuildReport(), BuildReport()
    whole.counts["rows"], whole.files["a.csv"] = 2, "0a"
    whole.problem("a.csv", "odd", 1)
    later.counts.update({"rows": 3, "packages": 1})
    later.files["b.csv"] = "0b"
    later.problem("b.csv", "odd", 4)
    whole.add(later)
    assert dict(whole.counts) == {"rows": 5, "packages": 1}
    assert whole.files == {"a.csv": "0a", "b.csv": "0b"}
    assert [(problem.file, problem.rows) for problem in whole.problems] == [("a.csv", 1), ("b.csv", 4)]
