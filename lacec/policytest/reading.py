"""A test file into cases: `NAME.test.toml`, beside the policy `NAME.lace`.

    [[test]]
    name = "a signed link is selected"
    facts = '''
    Have('S.1')
    '''
    is.selected = ["S.1"]

In: the bytes of a file. Out: what it says, or every problem that it has.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from lacec.check.spelling import nearest
from lacec.core.diagnostics import Diagnostic, quote
from lacec.core.facets import SHORTCUTS, Facet
from lacec.core.predicates import RUNTIME_FACTS
from lacec.core.resources import LIBRARY
from lacec.policytest.cases import (
    OF_AN_EXCHANGE,
    Case,
    ExchangeCase,
    Expected,
    GivenFacts,
    How,
    PartySpec,
    RecordSpec,
    TestFile,
)
from lacec.policytest.materials import NAME
from lacec.policytest.places import Path
from lacec.policytest.tables import Table, Tables
from lacec.records.tai import read_time

SUFFIX = ".test.toml"
_HOW: tuple[How, ...] = ("is", "has", "lacks")
_GIVEN = (
    *("facts", "facts_from", "stored", "stored_from", "offered", "source", "runtime"),
    *("peer", "side", "expose", "narrow", "trust_peer", "viewer"),
)
_TEST = ("name", *_GIVEN, *_HOW)
_FILE = ("policy", "with", "facet", "keys", "records", *_GIVEN, "test", "exchange")
_EXCHANGE = ("name", "left", "right", "at", *_HOW)
_PARTY = ("policy", "expose", "stored", "stored_from", "key")
_RECORD = ("group", "app", "name", "tai", "signed_by", "headers", "data")
_RUNTIME = {predicate.name: predicate.arity for predicate in RUNTIME_FACTS}


def read_tests(name: str, content: bytes) -> tuple[TestFile | None, tuple[Diagnostic, ...]]:
    """The tests of a file; none where something is wrong with it."""
    reader = _Reader(name, content)
    found = reader.file() if not reader.tables.problems else None
    problems = tuple(sorted(reader.tables.problems, key=lambda each: each.place))
    return (None if problems else found), problems


def policy_beside(name: str) -> str:
    return name.removesuffix(SUFFIX) + ".lace"


class _Reader:
    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.tables = Tables(name, content)

    def file(self) -> TestFile:
        tables, document = self.tables, self.tables.document
        tables.known((), document, _FILE, "a test file")
        policy = tables.text((), document, "policy")
        shared = self._given((), document, Case("", 1))
        tests = tables.tables(("test",), document.get("test", []))
        exchanges = tables.tables(("exchange",), document.get("exchange", []))
        if not tests and not exchanges and not tables.problems:
            tables.wrong((), "the file has no tests", "write [[test]] and a name")
        found = TestFile(
            self.name,
            policy_beside(self.name) if policy is None else self._path(policy),
            self._paths((), document, "with") if "with" in document else None,
            self._facet(document),
            self._keys(document),
            self._records(document),
            tuple(self._case(path, table, shared) for path, table in tests),
            tuple(self._exchange(path, table) for path, table in exchanges),
        )
        for name in sorted(found.records.keys() & found.all_keys()):
            said = f"{quote(name)} is a record and a key: `${name}` could be either"
            tables.wrong(("records", name), said, "give one of them another name")
        self._names_differ([*found.cases, *found.exchanges], [p for p, _ in (*tests, *exchanges)])
        return found

    def _names_differ(self, cases: Iterable[Case | ExchangeCase], paths: Iterable[Path]) -> None:
        seen: set[str] = set()
        for case, path in zip(cases, paths, strict=True):
            if not case.name:
                self.tables.wrong(path, "a test has no name", 'write name = "…" first in it')
            elif case.name in seen:
                said = f"two tests have the name {quote(case.name)}"
                self.tables.wrong((*path, "name"), said, "say what is different about each")
            seen.add(case.name)

    def _path(self, name: str) -> str:
        """A file by the way to it from here; it is written by the way from the test file."""
        if name.startswith(LIBRARY) or name in SHORTCUTS:
            return name
        return os.path.normpath(FilePath(self.name).parent / name)

    def _paths(self, path: Path, table: Table, key: str) -> tuple[str, ...]:
        return tuple(map(self._path, self.tables.texts(path, table, key)))

    def _facet(self, document: Table) -> Facet | None:
        facet = self.tables.text((), document, "facet")
        if facet is None or facet in tuple(Facet):
            return None if facet is None else Facet(facet)
        self.tables.wrong(("facet",), f"{quote(facet)} is no facet", f"one of {', '.join(Facet)}")
        return None

    # Records.

    def _records(self, document: Table) -> dict[str, RecordSpec]:
        found = {}
        table = self.tables.table(("records",), document.get("records", {}))
        for name, value in table.items():
            path: Path = ("records", name)
            self._name(path, name)
            found[name] = self._record(path, name, self.tables.table(path, value))
        return found

    def _keys(self, document: Table) -> tuple[str, ...]:
        keys = self.tables.texts((), document, "keys")
        for name in keys:
            self._name(("keys",), name)
        return keys

    def _name(self, path: Path, name: str) -> None:
        """Of a record or a key: one that can be written after a dollar."""
        if not NAME.fullmatch(name):
            help = "begin with a letter; then letters, digits, _ and -"
            self.tables.wrong(path, f"{quote(name)} cannot be a name after a $", help)

    def _signer(self, path: Path, table: Table, key: str) -> str | None:
        name = self.tables.text(path, table, key)
        if name is not None:
            self._name((*path, key), name)
        return name

    def _record(self, path: Path, name: str, table: Table) -> RecordSpec:
        tables = self.tables
        tables.known(path, table, _RECORD, "a record")
        places = [tables.text(path, table, key) for key in ("group", "app", "name")]
        if None in places and any(key in table for key in _RECORD if key != "data"):
            said = "a record has all of group, app and name, or data alone"
            tables.wrong(path, said, "add what is missing")
        spec = RecordSpec(name, tables.places.line(path), tables.text(path, table, "data") or "")
        tai = self._time(path, table, "tai") or spec.tai
        headers = []
        for header in tables.texts(path, table, "headers"):
            own, separator, value = header.partition(": ")
            if not separator:
                tables.wrong((*path, "headers"), f"{quote(header)} is not 'Name: value'")
            headers.append((own, value))
        return replace(
            spec,
            group=places[0],
            app=places[1],
            path=places[2],
            tai=tai,
            signed_by=self._signer(path, table, "signed_by"),
            headers=tuple(headers),
        )

    def _time(self, path: Path, table: Table, key: str) -> str | None:
        text = self.tables.text(path, table, key)
        try:
            return None if text is None else read_time(text)
        except ValueError as error:
            self.tables.wrong((*path, key), str(error), "as in 2026-01-31T12:00:00Z")
            return None

    # Tests.

    def _given(self, path: Path, table: Table, shared: Case) -> Case:
        """What a table gives a test, over what all tests are given."""
        tables = self.tables
        text = tables.text(path, table, "facts")
        line = tables.places.text_line((*path, "facts"))
        facts = () if text is None else (GivenFacts(text, line),)
        side = table.get("side", shared.side)
        if side not in (0, 1) or isinstance(side, bool):
            tables.wrong((*path, "side"), "`side` is 0 or 1", "the operand that the policy is")
            side = 0
        peer = tables.text(path, table, "peer")
        more: dict[str, Any] = {
            "facts": shared.facts + facts,
            "fact_files": shared.fact_files + self._paths(path, table, "facts_from"),
            "stored": shared.stored + tables.texts(path, table, "stored"),
            "record_files": shared.record_files + self._paths(path, table, "stored_from"),
            "offered": shared.offered + tables.texts(path, table, "offered"),
            "side": side,
        }
        if peer is not None:
            more["peer"] = self._path(peer)
        if "runtime" in table:
            more["runtime"] = self._runtime((*path, "runtime"), table["runtime"])
        for key in ("expose", "narrow"):
            if key in table:
                more[key] = self._paths(path, table, key)
        for key in ("source", "viewer"):
            if key in table:
                more[key] = tables.text(path, table, key)
        if "trust_peer" in table:
            more["trust_peer"] = tables.truth(path, table, "trust_peer")
        return replace(shared, **more)

    def _runtime(self, path: Path, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
        table = self.tables.table(path, value)
        self.tables.known(path, table, _RUNTIME, "an exchange")
        found: list[tuple[str, tuple[str, ...]]] = []
        for name in table:
            if _RUNTIME.get(name) == 0:
                found += [(name, ())] if self.tables.truth(path, table, name) else []
            elif name.endswith("TAI"):
                found.append((name, (self._time(path, table, name) or "",)))
            else:
                texts = self.tables.texts(path, table, name)
                found += [(name, (text,)) for text in texts]
        return tuple(found)

    def _case(self, path: Path, table: Table, shared: Case) -> Case:
        self.tables.known(path, table, _TEST, "a test")
        case = self._given(path, table, shared)
        case = replace(
            case,
            name=self.tables.text(path, table, "name") or "",
            line=self.tables.places.line(path),
            expected=tuple(self._expected(path, table)),
        )
        of_plan = [key for key in ("side", "expose", "narrow", "trust_peer") if key in table]
        if of_plan and case.peer is None:
            said = f"`{of_plan[0]}` is of an exchange plan, and the test has no peer"
            self.tables.wrong((*path, of_plan[0]), said, 'add peer = "theirs.lace"')
        return case

    def _expected(self, path: Path, table: Table) -> Iterable[Expected]:
        found = False
        for how in _HOW:
            for what, rows in self.tables.table((*path, how), table.get(how, {})).items():
                found = True
                where = (*path, how, what)
                line = self.tables.places.line(where)
                wanted = tuple(self._rows(where, rows))
                if how != "is" and rows in ([], False):
                    help = f"write is.{what} = … for what there is and nothing else"
                    self.tables.wrong(where, f"`{how}` of nothing holds whatever there is", help)
                yield Expected(how, what, wanted, line)
        if not found:
            help = 'as in is.selected = ["S.1"], has.sent = […] or lacks.requested = […]'
            self.tables.wrong(path, "a test expects nothing", help)

    def _rows(self, path: Path, value: Any) -> Iterable[tuple[str, ...]]:
        """A list of values, of rows of values; or of a predicate without any, whether it holds."""
        if isinstance(value, bool):
            return [()] if value else []
        if isinstance(value, list):
            rows = [[each] if isinstance(each, str) else each for each in value]
            if all(isinstance(row, list) and all(isinstance(v, str) for v in row) for row in rows):
                return [tuple(row) for row in rows]
        said = f"`{path[-1]}` is no list of texts, nor of rows of texts"
        self.tables.wrong(path, said, 'as in ["S.1"], or [["S.1", "V.alice"]]')
        return []

    # Exchanges.

    def _exchange(self, path: Path, table: Table) -> ExchangeCase:
        tables = self.tables
        tables.known(path, table, _EXCHANGE, "an exchange")
        expected = tuple(self._expected(path, table))
        for each in expected:
            if each.what not in OF_AN_EXCHANGE:
                close = nearest(each.what, OF_AN_EXCHANGE)
                help = f"did you mean `{close}`?" if close else "there are to_left and to_right"
                where = (*path, each.how, each.what)
                tables.wrong(where, f"an exchange has no {quote(each.what)}", help)
            elif any(len(row) != 1 for row in each.rows):
                said, help = f"`{each.what}` has one value a row", 'as in ["$one", "$two"]'
                tables.wrong((*path, each.how, each.what), said, help)
        return ExchangeCase(
            tables.text(path, table, "name") or "",
            tables.places.line(path),
            self._party((*path, "left"), table.get("left", {})),
            self._party((*path, "right"), table.get("right", {})),
            self._time(path, table, "at"),
            expected,
        )

    def _party(self, path: Path, value: Any) -> PartySpec:
        tables = self.tables
        table = tables.table(path, value)
        tables.known(path, table, _PARTY, f"the {path[-1]} side")
        policy = tables.text(path, table, "policy")
        return PartySpec(
            None if policy is None else self._path(policy),
            self._paths(path, table, "expose"),
            tables.texts(path, table, "stored"),
            self._paths(path, table, "stored_from"),
            self._signer(path, table, "key"),
        )
