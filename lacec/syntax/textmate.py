"""The grammar for editors, in TextMate's form, made of the terminals of the lark grammar.

In: the saved tables and the predicates that are known. Out: the text of
grammar/lace.tmLanguage.json. `make tables` writes it, and a test fails when it is stale.
A line stands alone, so no pattern goes on after one.
"""

import json
from typing import Any

from lacec.core.predicates import BASE, BUILTINS
from lacec.syntax.tables import TERMINALS

# What a terminal is called when nothing else is said of it.
SCOPES = {
    "ARROW": "keyword.operator.arrow.lace",
    "UNEQUAL": "keyword.operator.comparison.lace",
    "NOT": "keyword.operator.not.lace",
    "TRUE": "constant.language.true.lace",
    "COMMA": "punctuation.separator.lace",
    "STOP": "punctuation.terminator.lace",
    "LPAR": "punctuation.section.parens.begin.lace",
    "RPAR": "punctuation.section.parens.end.lace",
    "CONSTANT": "string.quoted.single.lace",
    "ANONYMOUS": "variable.language.anonymous.lace",
    "COMMENT": "comment.line.number-sign.lace",
    "ANNOTATION": "meta.annotation.lace",
}
VARIABLE = "variable.other.lace"
DEFINITION = "entity.name.function.definition.lace"
PREDICATE = "entity.name.function.lace"
FACT = "support.function.fact.lace"
BUILTIN = "support.function.builtin.lace"
ESCAPE = "constant.character.escape.lace"
UNTERMINATED = "invalid.illegal.unterminated.lace"

_PATTERNS = dict(TERMINALS)
_NAMES = "|".join(f"(?:{_PATTERNS[kind]})" for kind in ("CAPITAL", "NAME", "PRIVATE"))
_CALLED = r"(?=[ \t]*\()"
_ENDS = r"(?![A-Za-z0-9_~-])"


def textmate() -> str:
    facts = "|".join(sorted({predicate.name for predicate in BASE}))
    document = {
        "information_for_contributors": ["Written by `make tables`: change that, not this."],
        "name": "Lacegram",
        "scopeName": "source.lace",
        "fileTypes": ["lace"],
        "patterns": [
            _annotation(),
            _match("COMMENT", r"^[ \t]*(" + _PATTERNS["COMMENT"] + ")"),
            {
                "match": _PATTERNS["CONSTANT"],
                "name": SCOPES["CONSTANT"],
                "captures": {"0": {"patterns": [{"match": r"\\[\\']", "name": ESCAPE}]}},
            },
            {"match": r"'.*", "name": UNTERMINATED},
            *(_match(kind, _PATTERNS[kind]) for kind in ("ARROW", "UNEQUAL", "NOT", "TRUE")),
            {"match": rf"(?:{'|'.join(BUILTINS)}){_ENDS}{_CALLED}", "name": BUILTIN},
            {"match": rf"(?:{facts}){_ENDS}{_CALLED}", "name": FACT},
            {
                "match": rf"^[ \t]*({_NAMES}){_CALLED}",
                "captures": {"1": {"name": DEFINITION}},
            },
            {"match": rf"(?:{_NAMES}){_CALLED}", "name": PREDICATE},
            {"match": _PATTERNS["CAPITAL"], "name": VARIABLE},
            _match("ANONYMOUS", _PATTERNS["ANONYMOUS"]),
            {"match": _NAMES, "name": PREDICATE},
            *(_match(kind, _PATTERNS[kind]) for kind in ("COMMA", "STOP", "LPAR", "RPAR")),
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _match(kind: str, pattern: str) -> dict[str, Any]:
    if pattern.startswith("^"):
        return {"match": pattern, "captures": {"1": {"name": SCOPES[kind]}}}
    return {"match": pattern, "name": SCOPES[kind]}


def _annotation() -> dict[str, Any]:
    """The marker is a comment to those who know nothing of it; what follows is JSON."""
    marker, _, rest = _PATTERNS["ANNOTATION"].partition("(?")
    return {
        "match": rf"^[ \t]*(({marker})(?{rest.removesuffix('.*+')}(.*+))",
        "captures": {
            "1": {"name": SCOPES["ANNOTATION"]},
            "2": {"name": "keyword.control.annotation.lace"},
            "3": {"patterns": [{"include": "source.json"}]},
        },
    }
