"""Sets on a ground, and claims on claims, are sets and claims like any other."""

from collections.abc import Set as AbstractSet
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.exchange.advertisement_columns import HashSet, as_columns, flattened
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField
from lacec.runtime.interlace.advertisements import Claims, LayeredClaims, alteration
from lacec.runtime.interlace.hashes import FEW, SHARE, Ground, Grounded, are_few
from lacec.vm.symbols import Symbols
from tests.helpers import examples

some = st.sets(st.sampled_from([f"h{n}" for n in range(12)]))
Values = dict[str, str]
claimed = st.dictionaries(st.sampled_from([f"P.{n}.H3" for n in range(8)]), st.sampled_from("xy"))


def hash_set(texts: set[str], symbols: Symbols) -> HashSet:
    return HashSet(symbols, symbols.intern_all(sorted(texts)))


def on_ground(ground: Grounded, wanted: set[str]) -> Grounded:
    return ground.changed(wanted - set(ground), set(ground) - wanted)


@given(some, some, some, some, st.booleans())
@examples(200)
def test_sets_on_grounds_are_sets(
    first: set[str], second: set[str], one: set[str], other: set[str], together: bool
) -> None:
    """On one ground or two, whose ids are of one table or two."""
    symbols = Symbols()
    ground = hash_set(first, symbols)
    left = on_ground(ground, one)
    right = on_ground(ground if together else hash_set(second, Symbols()), other)
    assert set(left) == one
    assert len(left) == len(one)
    assert (left == right) == (one == other)
    assert left == one
    assert left - right == one - other
    assert left - other == one - other
    assert (left - right) - other == one - other
    assert {hash for hash in first | second if hash in left} == (first | second) & one
    assert flattened(left) == one
    assert flattened(left).ground is not ground.ground
    wanted = set(other)
    wanted &= left
    wanted.add("more")  # it is still a set that changes
    assert wanted == (one & other) | {"more"}


def test_two_grounds_are_compared_once() -> None:
    class Counting(HashSet):
        compared = 0

        def minus(self, other: AbstractSet[str]) -> AbstractSet[str]:
            Counting.compared += 1
            return super().minus(other)

    symbols = Symbols()
    one, other = (Counting(symbols, symbols.intern_all(texts)) for texts in (["a", "b"], ["b"]))
    for n in range(5):
        assert one.changed([f"n{n}"], []) - other == {"a", f"n{n}"}
    assert Counting.compared == 2, "once in each direction"


def test_a_large_set_knows_its_hashes_without_all_their_texts() -> None:
    symbols = Symbols()
    large = HashSet(symbols, symbols.intern_all([f"hash {n}" for n in range(1000)]))
    assert "hash 7" in large
    assert "hash 1000" not in large
    assert "_texts" not in vars(large)
    assert all(f"hash {n}" in large for n in range(1000))
    assert "_texts" in vars(large), "asked so often, it has made them"


def test_what_is_few() -> None:
    assert are_few(FEW, 0)
    assert not are_few(FEW + 1, 0)
    assert are_few(1000, 1000 * SHARE)
    assert not are_few(1001, 1000 * SHARE)


# Claims.


def claims_of(values: Values) -> Claims:
    return Claims(
        Advertisement(hash, "V.a.H3", (ClaimedField("X", 0, value),))
        for hash, value in values.items()
    )


@given(claimed, st.lists(st.tuples(claimed, some), max_size=4), st.booleans())
@examples(150)
def test_claims_on_claims_are_claims(
    first: Values, changes: list[tuple[Values, set[str]]], columns: bool
) -> None:
    """Whether what they stand on is objects or columns; also when it is taken back."""
    now: Claims = as_columns(claims_of(first)) if columns else claims_of(first)
    expected = dict(first)
    states = [now]
    for more, gone in changes:
        left = {hash for hash in expected if f"h{hash[2]}" not in gone}
        now = now.only(left).and_also(claims_of(more))
        expected = {hash: expected[hash] for hash in left} | more
        states.append(now)
        assert now == claims_of(expected)
        assert claims_of(expected) == now
        assert dict(now) == dict(claims_of(expected))
        assert all(now[hash] == record for hash, record in claims_of(expected).items())
        assert now.hashes == expected.keys()
        assert set(now.said.sources) >= set(claims_of(expected).said.sources)
        assert as_columns(now) == now
        assert (now == states[-2]) == (dict(now) == dict(states[-2]))
    for one, other in pairwise(states):
        found = alteration(one, other)
        if found is not None:
            come = {record.hash: record for record in found.come}
            rest = {hash: one[hash] for hash in one if hash not in found.gone}
            assert rest | come == dict(other)


def test_many_changes_stand_on_nothing() -> None:
    below = claims_of({f"P.{n}.H3": "x" for n in range(100)})
    few = below.only(below.hashes - {f"P.{n}.H3" for n in range(FEW)})
    assert isinstance(few, LayeredClaims)
    assert few.below is below
    many = few.only(few.hashes - {"P.99.H3"})
    assert not isinstance(many, LayeredClaims)
    assert len(many) == 99 - FEW
    assert alteration(few, many) is None, "in what they differ would have to be looked for"
    assert Ground(few.hashes).apart(many.ground)[0] == {"P.99.H3"}
