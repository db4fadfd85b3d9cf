"""One function over many items, on all cores."""

import os
import threading
import time

import pytest

from lacec.vm.parallel import in_order


@pytest.fixture(params=[1, 2])
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: request.param)


@pytest.mark.usefixtures("cores")
def test_results_come_in_the_order_of_the_items() -> None:
    def slow_first(item: int) -> int:
        time.sleep(0.02 if item == 0 else 0)
        return item * item

    assert list(in_order(slow_first, range(50))) == [n * n for n in range(50)]


def test_items_are_worked_on_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    both = threading.Barrier(2, timeout=10)
    assert len(set(in_order(lambda _: both.wait(), range(2)))) == 2


@pytest.mark.usefixtures("cores")
def test_an_error_is_raised_where_its_result_would_be() -> None:
    results = in_order(lambda item: 1 // item, [1, 1, 0, 1])
    assert [next(results), next(results)] == [1, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


@pytest.mark.usefixtures("cores")
def test_who_stops_early_leaves_the_rest_undone() -> None:
    done: list[int] = []

    def work(item: int) -> None:
        time.sleep(0.001)
        done.append(item)

    results = in_order(work, range(1000))
    next(results)
    results.close()
    assert len(done) < 1000
