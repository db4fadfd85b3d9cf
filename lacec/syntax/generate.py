"""Compile grammar/lacegram.lark into the saved LALR tables of tables.py.

In: the grammar. Out: the text of a Python module. lark is needed only here, so
that no command pays for importing it or for building tables. Run it with
`make tables`; a test fails when tables.py is stale.
"""

from pathlib import Path
from pprint import pformat

from lacec.core.resources import grammar_path, textmate_path

TABLES = Path(__file__).with_name("tables.py")
START = "line"


def generate(grammar: str) -> str:
    """The source of tables.py for a grammar."""
    from lark import Lark
    from lark.common import ParserConf
    from lark.parsers.lalr_analysis import IntParseTable, LALR_Analyzer, Shift

    lark = Lark(grammar, start=START, parser="lalr")
    analyzer = LALR_Analyzer(ParserConf(lark.rules, {}, [START]))
    analyzer.compute_lalr()  # type: ignore[no-untyped-call]
    table = IntParseTable.from_ParseTable(analyzer.parse_table)

    number = {rule: i for i, rule in enumerate(lark.rules)}
    rules = [
        (str(rule.origin.name), len(rule.expansion), str(rule.alias or rule.origin.name))
        for rule in lark.rules
    ]
    used = {symbol.name for rule in lark.rules for symbol in rule.expansion}
    order = _breadth_first(table.states, table.start_states[START], Shift)
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for state in order:
        action_row: dict[str, int] = {}
        goto_row: dict[str, int] = {}
        for symbol, (kind, argument) in sorted(table.states[state].items()):
            if kind is not Shift:
                action_row[symbol] = -1 - number[argument]
            elif symbol.isupper():
                action_row[symbol] = order[argument]
            else:
                goto_row[str(symbol)] = order[argument]
        actions.append(action_row)
        gotos.append(goto_row)
    patterns = [
        (t.name, t.pattern.to_regexp())
        for t in sorted(lark.terminals, key=lambda t: (t.pattern.type != "str", -t.priority))
        if t.name in used
    ]
    return (
        '"""LALR tables of grammar/lacegram.lark, written by `make tables`. Do not edit."""\n\n'
        + _assignment("TERMINALS", "tuple[tuple[str, str], ...]", tuple(patterns))
        + _assignment("RULES", "tuple[tuple[str, int, str], ...]", tuple(rules))
        + _assignment("ACTIONS", "tuple[dict[str, int], ...]", tuple(actions))
        + _assignment("GOTOS", "tuple[dict[str, int], ...]", tuple(gotos))
    )


def _breadth_first(
    states: dict[int, dict[str, tuple[object, int]]], start: int, shift: object
) -> dict[int, int]:
    """States numbered in the order a reader meets them: lark's own order varies."""
    order = {start: 0}
    queue = [start]
    for state in queue:
        for _, (kind, target) in sorted(states[state].items(), key=lambda item: item[0]):
            if kind is shift and target not in order:
                order[target] = len(order)
                queue.append(target)
    return order


def _assignment(name: str, kind: str, value: object) -> str:
    return f"{name}: {kind} = \\\n{pformat(value, width=96, compact=True)}\n"


if __name__ == "__main__":
    TABLES.write_text(generate(grammar_path().read_text(encoding="utf-8")), encoding="utf-8")
    # Imported now, because it reads the tables.
    from lacec.syntax.textmate import textmate

    textmate_path().write_text(textmate(), encoding="utf-8")
