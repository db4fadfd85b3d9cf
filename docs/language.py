"""The page of the language: what can be written, and from the code what is there to write about."""

from collections.abc import Mapping

from lacec.core.predicates import (
    ADVERTISEMENT_FACTS,
    BUILTIN_MEANING,
    BUILTINS,
    EXPOSE_EXPORTS,
    FIELDS,
    LOCAL_FACTS,
    RECORD_FACTS,
    RUNTIME_FACTS,
    SELECTOR_EXPORTS,
    Predicate,
)

PAGE = """\
# The language

All that a policy can say, on one page. [Policies](policies.md) shows it at work; every mistake has
a [page of its own](rules/README.md); the document behind it is [030](spec/030.md).

## Rules

A policy, a *lacegram*, has one rule a line:

```lace
Link(P) :- Have(P), Field(P,'Group',_,'u').
```

What stands before `:-`, the *head*, holds for all values for which every *atom* after it does.
Where a predicate has several rules, each of them is enough. A predicate without rules and without
facts is legal, and holds for nothing.

| written | what it is |
|---|---|
| `P`, `Name`, `V2` | a variable: the same value wherever it stands in its rule |
| `'u'`, `'it\\'s'` | a constant; `\\'` and `\\\\` are the only escapes |
| `_` | any value, each time one of its own |
| `Link(P)`, `Ready()` | an atom; `Link/1`, with one value, is another predicate than `Link/2` |
| `not Link(P)` | there is no such fact |
| `X != Y` | two values that differ |
| `Signer('V.alice') :- true.` | a rule that always holds |
| `# …` | a comment, on a line of its own |
| `#:json {{"label":"…","why":"…"}}` | an annotation of the rule below it; it changes no identity |

All values are text, numbers too: `'100'`. A predicate may use itself, as on the way from a record
to all that it rests on:

```lace
Support(P) :- Root(P).
Support(T) :- Support(P), RecordLink(P,_,_,_,T).
```

Two kinds of rule are refused because they have no clear answer: one with a variable in its head, a
test or a negated atom that no positive atom of the same body gives a value; and one by which a
predicate depends on itself through `not` or through a count. `_` stands in no head and no test.

## Tests

| test | what it does |
|---|---|
{builtins}
Names of one segment, a slash and `far`; and records that nobody signed:

```console
$ lacec query "Field(P,'Name',_,N), TextShape(N,'','/','far')" --facts links.facts
P	N
S.3	links/far
$ lacec query "Have(P), Cardinality(Field(P,'Signed-By',_,_),'<','1')" --facts links.facts
P
S.4
```

## Facts of records

Of each stored record, and of no other, there are these facts:

| fact | what it says |
|---|---|
{records}
A field is one of these, whose index is `'0'`, or an extra header under its own name; several
headers of one name have the indexes `'0'`, `'1'` and so on.

| field | what it is |
|---|---|
{fields}
A Blob has the first two alone, and only a Seal has the last two. A *link* is an extra header whose
name ends in `+Link`, with the value `DATA TARGET`; it makes a `RecordLink` beside its `Field`.
`lacec store facts STORE` prints all facts of a store.

## Facts of an exchange

While an exchange runs, its rules see these too. Elsewhere they are given in a file, as any others.

| fact | what it says |
|---|---|
{runtime}
`Here` and `Peer` are there only where the verifier is proven.

What a peer offers is a claim, until the record is here and valid. S is its proven verifier, or a
label that holds for this exchange:

| fact | what it says |
|---|---|
{advertised}
A side advertises `Type` and the fields that the two selectors ask for, others only with
`--advertise`.

## What a module is for

A module has a *facet*, which `--facet` names, or [lace.toml](lint.md#lacetoml):

| facet | what it is read for |
|---|---|
| `plain` | whatever is asked for; by custom `Selected(P)` |
{selector}{expose}
The operands of an exchange are selectors; an exposure says what a peer's selector may see here. An
exposure has one fact more:

| fact | what it says |
|---|---|
{local}
Of two selectors and the exposures of one side, a [plan](plans.md) makes `MaySend(P)`,
`MayRequest(P)` and `CanQueryRecord(V,P)`, which no policy defines itself.
"""


def _rows(meanings: Mapping[Predicate, str]) -> str:
    parts = (text.partition(": ") for text in meanings.values())
    return "".join(f"| `{form}` | {meaning} |\n" for form, _, meaning in parts)


def language_page() -> str:
    return PAGE.format(
        builtins="".join(
            f"| `{BUILTINS[name]}` | {BUILTIN_MEANING[name]} |\n" for name in BUILTINS
        ),
        records=_rows(RECORD_FACTS),
        fields="".join(f"| `{name}` | {meaning} |\n" for name, meaning in FIELDS.items()),
        runtime=_rows(RUNTIME_FACTS),
        advertised=_rows(ADVERTISEMENT_FACTS),
        selector=_facet("selector", SELECTOR_EXPORTS),
        expose=_facet("expose", EXPOSE_EXPORTS),
        local=_rows(LOCAL_FACTS),
    )


def _facet(name: str, exports: Mapping[Predicate, str]) -> str:
    parts = (text.partition(": ") for text in exports.values())
    return f"| `{name}` | {'; '.join(f'`{form}`, {meaning}' for form, _, meaning in parts)} |\n"
