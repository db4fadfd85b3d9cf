"""Diagnostics as a SARIF 2.1.0 log: the form that code scanning services read."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from lacec import __version__
from lacec.core.diagnostics import CATALOGUE, Diagnostic, Fix, Place
from lacec.core.resources import rule_page_path

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif_log(diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    """One run, with the rules that its results name."""
    names = list(dict.fromkeys(diagnostic.name for diagnostic in diagnostics))
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "lacec",
                        "semanticVersion": __version__,
                        "rules": [_rule(name) for name in names],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(each, names.index(each.name)) for each in diagnostics],
            }
        ],
    }


def _rule(name: str) -> dict[str, Any]:
    page = rule_page_path(name).read_text(encoding="utf-8")
    return {
        "id": name,
        "shortDescription": {"text": page.split("\n")[2]},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": LEVELS[CATALOGUE[name]]},
    }


def _result(diagnostic: Diagnostic, index: int) -> dict[str, Any]:
    text = diagnostic.message + (f" ({diagnostic.help})" if diagnostic.help else "")
    result: dict[str, Any] = {
        "ruleId": diagnostic.name,
        "ruleIndex": index,
        "level": LEVELS[diagnostic.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(diagnostic.place)}],
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"physicalLocation": _location(each.place), "message": {"text": each.message}}
            for each in diagnostic.related
        ]
    if diagnostic.fix is not None:
        result["fixes"] = [_fix(diagnostic.fix)]
    return result


def _fix(fix: Fix) -> dict[str, Any]:
    files = dict.fromkeys(edit.place.file for edit in fix.edits)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": _uri(file)},
                "replacements": [
                    {"deletedRegion": _region(edit.place), "insertedContent": {"text": edit.text}}
                    for edit in fix.edits
                    if edit.place.file == file
                ],
            }
            for file in files
        ],
    }


def _location(place: Place) -> dict[str, Any]:
    return {"artifactLocation": {"uri": _uri(place.file)}, "region": _region(place)}


def _region(place: Place) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _uri(file: str) -> str:
    """The name of a file as a reference; a name that is no path stays one segment."""
    return quote(PurePath(file).as_posix(), safe="/", errors="surrogateescape")
