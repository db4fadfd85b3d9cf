"""The pages of the standard library: one for each module, and one that lists them."""

from pathlib import Path

from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.predicates import Predicate
from lacec.engine.evaluation import evaluate
from lacec.facts.bulk_reader import read_facts, write_facts
from lacec.pipeline import compile_module
from lacec.project.library import LibraryModule, library
from lacec.project.settings import settings_for
from lacec.vm.database import Database

DOCS = Path(__file__).parent

STD_INTRODUCTION = """\
# The standard library

Modules to link to a policy, with `--with std:NAME`, or by `lace.toml` for every command and for
the editor:

```toml
[[files]]
match = "policy.lace"
with = ["std:coordinates", "std:members"]
```

A module is plain Lace Datalog. Your policy defines what it works on, as predicates: `std:signed`
gives the records that a `Signer(V)` signed, and `Signer('V.alice') :- true.` names one. No two
modules have a name in common, so any of them can be linked together. A module that reads
advertised fields makes an exchange plan require them, whether its rules are used or not.
`lacec std show NAME` prints a module; beside each stand its [tests](../testing.md).

| module | gives |
|---|---|
"""


def std_index() -> str:
    lines = [f"| [std:{each.name}]({each.name}.md) | {each.summary} |\n" for each in library()]
    return STD_INTRODUCTION + "".join(lines)


def std_page(module: LibraryModule) -> str:
    example = DOCS.parent / "examples" / "std" / f"{module.name}.lace"
    policy, facts = example.read_bytes(), example.with_suffix(".facts").read_bytes()
    settings = settings_for(example)
    compiled = compile_module(
        [(example.name, policy), (module.name, module.text)], settings.facet or Facet.PLAIN
    )
    output = next(iter(compiled.facet.exports), Predicate("Selected", 1))
    database = Database()
    assert not read_facts(example.name, facts, database, DEFAULT_LIMITS)
    found = evaluate(compiled, database, [output]).facts(output)
    asked = f"lacec eval std/{example.name} --facts std/{module.name}.facts --query {output}"
    lines = [f"# std:{module.name}", "", f"{module.summary[0].upper()}{module.summary[1:]}", ""]
    for heading, described in (("You define", module.defined), ("It gives", module.given)):
        lines += [f"| {heading} | |", "|---|---|"]
        lines += [f"| `{each.form}` | {each.meaning} |" for each in described] + [""]
    lines += [
        module.notes,
        "",
        f"`examples/std/{example.name}`, linked by the `lace.toml` there:",
        "",
    ]
    lines += ["```", policy.decode().rstrip("\n"), "```", "", "Over these facts", ""]
    lines += ["```facts", facts.decode().rstrip("\n"), "```", "", "it gives", ""]
    shown = write_facts(output, found).decode().rstrip("\n")
    return "\n".join([*lines, "```console", f"$ {asked}", shown, "```"]) + "\n"
