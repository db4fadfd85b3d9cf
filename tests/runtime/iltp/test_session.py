"""Links over every transport: they come to what an exchange in one process comes to."""

from pathlib import Path
from random import Random

import pytest

from lacec.runtime.exchange.in_process import Participant, make_pair, system_clock
from lacec.runtime.interlace.result import Result
from tests.runtime.iltp.ends import SCHEMES, End, end, run
from tests.simulation.policies import EVERYTHING, MEMBERS, some_records


def in_one_process(left: End, right: End) -> tuple[Result, Result]:
    pair = make_pair(
        Participant(left.shelf, left.terms.policy),
        Participant(right.shelf, right.terms.policy),
        system_clock,
    )
    pair.run()
    one, other = (seat.result for seat in pair.seats)
    assert one is not None
    assert other is not None
    return one, other


@pytest.mark.parametrize("source", [EVERYTHING, MEMBERS])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_link_ends_with_the_stores_of_a_run_in_one_process(
    scheme: str, source: str, tmp_path: Path
) -> None:
    random = Random(scheme + source)
    records = [some_records(random, 30) for _ in range(2)]
    linked = [end(n, records[n], source=source) for n in range(2)]
    alone = [end(n, records[n], source=source) for n in range(2)]
    results = run(scheme, tmp_path, *linked)
    assert results == in_one_process(*alone)
    assert all(result.converged for result in results)
    for one, other in zip(linked, alone, strict=True):
        assert one.shelf.records.keys() == other.shelf.records.keys()
