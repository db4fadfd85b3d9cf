"""A module that reads the start of an exchange and never the time."""

from tests.helpers import Found, cases, fixed, lints

OLD = "Old(P) :- Field(P,'TAI',_,T), StartTAI(S), LexCompare(T,'<',S)."


@cases(
    ("the start alone", OLD, "plain", [("time-without-tick", 1, 31)]),
    (
        "a tick, too",
        OLD + "\nNew(P) :- Field(P,'TAI',_,T), TickTAI(S), LexCompare(T,'>',S).",
        "plain",
        [],
    ),
    ("a tick alone", "Now(T) :- TickTAI(T).", "plain", []),
    (
        "no time",
        "A(P) :- Field(P,'TAI',_,T), LexCompare(T,'>','1769860837:000000000').",
        "plain",
        [],
    ),
)
def test_time_without_tick(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_fix_writes_the_tick() -> None:
    assert fixed(OLD) == OLD.replace("StartTAI", "TickTAI")
