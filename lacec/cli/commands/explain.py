"""lacec explain: a diagnostic, a program, a fact that it derives or does not, an exchange."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lacec.check.spelling import nearest
from lacec.cli.commands.run_interlace import Advertise, BothPolicy, TwoStores
from lacec.cli.groups import grouped
from lacec.cli.options import (
    ExposeOption,
    FactsOption,
    JsonOption,
    LimitOption,
    LoweringOption,
    OneSide,
    OriginsOption,
    PlanOption,
    StoreOption,
    WithOption,
    needs_plan,
    needs_stores,
    not_with_plan,
    not_with_stores,
    read_exchange_limits,
    read_limits,
)
from lacec.cli.render.output import write_json
from lacec.core.diagnostics import CATALOGUE, visible
from lacec.core.origins import OriginMode
from lacec.core.resources import rule_page_path

if TYPE_CHECKING:
    from lacec.cli.explain_exchange import ExchangeAsked
    from lacec.cli.plan import Policy, Setup

Subjects = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME|FILE...|HASH [FACT]",
        help="A diagnostic; a file, two with --plan, and a fact; of two stores a record's hash.",
    ),
]
NotOption = Annotated[
    bool, typer.Option("--not", help="Say why the fact is not derived, rule by rule.")
]
AllOption = Annotated[
    str | None,
    typer.Option("--all", metavar="NAME/ARITY", help="Explain every fact of a predicate."),
]
HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a page for a browser to a file."),
]


@dataclass(frozen=True)
class Asked:
    """What is to be explained, and over which facts."""

    subjects: Subjects = None
    absent: NotOption = False
    every: AllOption = None
    facts: FactsOption = None
    store: StoreOption = None

    def files(self, count: int, what: str) -> list[str]:
        """The subjects without the fact that may follow them."""
        given = self.subjects or []
        if len(given) not in (count, count + 1):
            raise typer.BadParameter(f"give {what}, and a fact if one is to be explained")
        return given[:count]

    @property
    def of_facts(self) -> bool:
        """Whether facts are to be explained, and not a program."""
        return self.absent or self.every is not None

    def fact(self, count: int) -> str | None:
        given = self.subjects or []
        return given[count] if len(given) > count else None


@dataclass(frozen=True)
class Answered:
    """Within which limits it is explained, and how."""

    limit: LimitOption = None
    html: HtmlOption = None
    json: JsonOption = False

    def page(self, asked: Asked, of_one: str | None) -> Path | None:
        """Where a page goes, if one is wanted; it shows all, and not one fact or record."""
        if self.html is None:
            return None
        given = {"--json": self.json, "--not": asked.absent, "--all": asked.every is not None}
        for other in (name for name, value in given.items() if value):
            raise typer.BadParameter(f"cannot stand beside {other}", param_hint="--html")
        if of_one is not None:
            message = f"the page shows all there is: give it without {visible(of_one)}"
            raise typer.BadParameter(message, param_hint="--html")
        return self.html


@grouped
def explain_command(
    *,
    asked: Asked,
    linked: WithOption = None,
    plan: PlanOption = False,
    of_plan: OneSide,
    expose: ExposeOption = None,
    of_stores: TwoStores,
    policy: BothPolicy = None,
    advertise: Advertise = None,
    origins: OriginsOption = OriginMode.OPAQUE,
    lowering: LoweringOption = None,
    answered: Answered,
) -> None:
    """Explain a diagnostic, a program, a fact that it derives or does not, or an exchange.

    A fact is shown with a proof: the rules that made it, with their source lines, down to the
    facts that were given. With --not, each rule that could have made it is shown as far as it
    got. With --plan the same for one side, whose peer's rules see what is exposed to them;
    without a fact, the lowered rules. With --left and --right, what an exchange would do with
    one record, with the options of run-interlace.

    With --html, one page for a browser: what depends on what, rules beside their bytecode,
    and what is derived, with proofs that unfold; of an exchange, all that moves or stays.

    Example: lacec explain links.lace "Selected('S.1')" --facts links.facts
    """
    ways = origins, lowering
    if of_stores.left is not None or of_stores.right is not None:
        given = {"plan": plan, "facts": asked.facts, "store": asked.store, "all": asked.every}
        not_with_stores(**given, **vars(of_plan), **{"not": asked.absent, "with": linked})
        exchange = _read_exchange(answered, of_stores, policy, expose, advertise, ways)
        _exchange(asked, answered, exchange)
        return
    needs_stores(**vars(of_stores), policy=policy, advertise=advertise)
    if plan:
        from lacec.cli import plan as plans

        not_with_plan(**{"with": linked})
        setup, local = plans.read_setup(of_plan, expose, *ways)
        _plan(asked, answered, of_plan.side, setup, local)
        return
    needs_plan(expose=expose, origins=origins is not OriginMode.OPAQUE, lowering=lowering)
    needs_plan(**vars(of_plan))
    _one(asked, answered, linked)


def _one(asked: Asked, answered: Answered, linked: list[str] | None) -> None:
    (subject,) = asked.files(1, "the name of a diagnostic or a file")
    fact, limits, json = asked.fact(1), read_limits(answered.limit), answered.json
    explains_facts = asked.of_facts or fact is not None
    page = answered.page(asked, fact)
    if page is not None:
        from lacec.cli.explain_html import write_policy_page

        write_policy_page(page, subject, linked, asked.facts, asked.store, limits)
        return
    if subject in CATALOGUE and not explains_facts:
        _print_page(subject, json)
        return
    is_file = subject == "-" or subject.startswith("std:") or os.path.exists(subject)
    if not is_file and not explains_facts:
        if "." in subject or os.sep in subject:
            raise typer.BadParameter(f"cannot read {subject}: no such file or directory")
        close = nearest(subject, CATALOGUE)
        hint = f"did you mean {close}?" if close else f"the names are {', '.join(CATALOGUE)}"
        raise typer.BadParameter(f"there is no diagnostic {subject!r}; {hint}")
    if explains_facts:
        from lacec.cli.why import print_why, read_asked

        question = read_asked(fact, asked.every, asked.absent, limits)
        print_why(subject, linked, question, asked.facts, asked.store, limits, json)
    else:
        from lacec.cli.program import print_program

        print_program(subject, linked, asked.facts, asked.store, limits, json)


def _plan(
    asked: Asked, answered: Answered, side: int | None, setup: "Setup", policy: "Policy"
) -> None:
    files = asked.files(2, "two files, one for each operand")
    fact, limits = asked.fact(2), read_limits(answered.limit)
    page = answered.page(asked, fact)
    if page is not None:
        from lacec.cli.explain_html import write_plan_page

        write_plan_page(page, files, side, setup, policy, asked.facts, asked.store, limits)
        return
    if asked.of_facts or fact is not None:
        from lacec.cli.why import print_plan_why, read_asked

        question = read_asked(fact, asked.every, asked.absent, limits)
        given = (asked.facts, asked.store, limits, answered.json)
        print_plan_why(files, question, side, setup, policy, *given)
    else:
        from lacec.cli.program import print_side

        print_side(files, side, setup, policy, asked.facts, asked.store, limits, answered.json)


def _read_exchange(
    answered: Answered,
    stores: TwoStores,
    policy: str | None,
    expose: list[str] | None,
    advertise: list[str] | None,
    ways: tuple[OriginMode, str | None],
) -> "ExchangeAsked":
    from lacec.cli.explain_exchange import ExchangeAsked

    missing = "an exchange takes two stores: give --left and --right"
    sides = stores.sides(policy, expose, missing)
    limits = read_exchange_limits(answered.limit)
    return ExchangeAsked(sides, stores.keys, advertise, *ways, limits, answered.json)


def _exchange(asked: Asked, answered: Answered, exchange: "ExchangeAsked") -> None:
    page = answered.page(asked, asked.fact(0))
    if page is not None:
        from lacec.cli.explain_html import write_exchange_page

        write_exchange_page(page, exchange)
        return
    from lacec.cli.explain_exchange import print_exchange_why

    if asked.subjects is None or len(asked.subjects) != 1:
        raise typer.BadParameter("give the hash of one record")
    print_exchange_why(asked.subjects[0], exchange)


def _print_page(name: str, json: bool) -> None:
    page = rule_page_path(name).read_text(encoding="utf-8")
    if json:
        write_json({"name": name, "severity": CATALOGUE[name], "page": page})
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        sys.stdout.buffer.write(page.encode("utf-8"))
