"""lacec explain: a diagnostic, a program, a fact that it derives or does not, an exchange."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lacec.check.spelling import nearest
from lacec.cli.options import (
    ExposeOption,
    FactsOption,
    JsonOption,
    LimitOption,
    LoweringOption,
    NarrowOption,
    Nonce0Option,
    Nonce1Option,
    OriginsOption,
    PlanOption,
    SideOption,
    StoreOption,
    TrustOption,
    Verifier0Option,
    Verifier1Option,
    WithOption,
    needs_plan,
    needs_stores,
    not_with_plan,
    not_with_stores,
    read_limits,
)
from lacec.cli.output import write_json
from lacec.cli.run_interlace import (
    Advertise,
    BothPolicy,
    LeftExpose,
    LeftKey,
    LeftPolicy,
    RightExpose,
    RightKey,
    RightPolicy,
)
from lacec.diagnostics import CATALOGUE
from lacec.resources import rule_page_path
from lacec.views import OriginMode

if TYPE_CHECKING:
    from lacec.cli.plan import Policy, Setup

Subjects = Annotated[
    list[str],
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
Left = Annotated[
    Path | None, typer.Option("--left", metavar="STORE", help="Of an exchange: the left store.")
]
Right = Annotated[
    Path | None, typer.Option("--right", metavar="STORE", help="Of an exchange: the right store.")
]


def explain_command(
    subjects: Subjects,
    absent: NotOption = False,
    every: AllOption = None,
    facts: FactsOption = None,
    store: StoreOption = None,
    linked: WithOption = None,
    plan: PlanOption = False,
    side: SideOption = None,
    expose: ExposeOption = None,
    narrow: NarrowOption = None,
    trust_peer: TrustOption = False,
    verifier0: Verifier0Option = None,
    verifier1: Verifier1Option = None,
    nonce0: Nonce0Option = None,
    nonce1: Nonce1Option = None,
    left: Left = None,
    right: Right = None,
    policy: BothPolicy = None,
    left_policy: LeftPolicy = None,
    right_policy: RightPolicy = None,
    left_expose: LeftExpose = None,
    right_expose: RightExpose = None,
    left_key: LeftKey = None,
    right_key: RightKey = None,
    advertise: Advertise = None,
    origins: OriginsOption = OriginMode.OPAQUE,
    lowering: LoweringOption = None,
    limit: LimitOption = None,
    json: JsonOption = False,
) -> None:
    """Explain a diagnostic, a program, a fact that it derives or does not, or an exchange.

    A fact is shown with a proof: the rules that made it, with their source lines, down to the
    facts that were given. With --not, each rule that could have made it is shown as far as it
    got. With --plan the same for one side, whose peer's rules see what is exposed to them;
    without a fact, the lowered rules. With --left and --right, what an exchange would do with
    one record, with the options of run-interlace.

    Example: lacec explain links.lace "Selected('S.1')" --facts links.facts
    """
    of_plan = {"side": side, "narrow": narrow, "trust_peer": trust_peer, "verifier0": verifier0}
    of_plan |= {"verifier1": verifier1, "nonce0": nonce0, "nonce1": nonce1}
    asked = _Asked(subjects, absent, every, facts, store, limit, json)
    if left is not None or right is not None:
        not_with_stores(plan=plan, facts=facts, store=store, all=every, **{"not": absent})
        not_with_stores(**of_plan, **{"with": linked})
        policies = (left_policy or policy, right_policy or policy)
        exposes = (
            [*(expose or ()), *(left_expose or ())],
            [*(expose or ()), *(right_expose or ())],
        )
        keys = (left_key, right_key)
        _exchange(asked, (left, right), policies, exposes, keys, advertise, origins, lowering)
        return
    needs_stores(policy=policy, left_policy=left_policy, right_policy=right_policy)
    needs_stores(left_expose=left_expose, right_expose=right_expose)
    needs_stores(left_key=left_key, right_key=right_key, advertise=advertise)
    if plan:
        from lacec.cli import plan as plans

        not_with_plan(**{"with": linked})
        setup = plans.Setup((verifier0, verifier1), (nonce0, nonce1), origins, lowering)
        local = plans.Policy(expose or (), narrow or (), trust_peer)
        _plan(asked, side, setup, local)
        return
    needs_plan(expose=expose, origins=origins is not OriginMode.OPAQUE, lowering=lowering)
    needs_plan(**of_plan)
    _one(asked, linked)


@dataclass(frozen=True)
class _Asked:
    """What every kind of explanation is given."""

    subjects: list[str]
    absent: bool
    every: str | None
    facts: list[str] | None
    store: Path | None
    limit: list[str] | None
    json: bool

    def files(self, count: int, what: str) -> list[str]:
        """The subjects without the fact that may follow them."""
        if len(self.subjects) not in (count, count + 1):
            raise typer.BadParameter(f"give {what}, and a fact if one is to be explained")
        return self.subjects[:count]

    @property
    def of_facts(self) -> bool:
        """Whether facts are to be explained, and not a program."""
        return self.absent or self.every is not None

    def fact(self, count: int) -> str | None:
        return self.subjects[count] if len(self.subjects) > count else None


def _one(asked: _Asked, linked: list[str] | None) -> None:
    (subject,) = asked.files(1, "the name of a diagnostic or a file")
    fact, limits, json = asked.fact(1), read_limits(asked.limit), asked.json
    explains_facts = asked.of_facts or fact is not None
    if subject in CATALOGUE and not explains_facts:
        _print_page(subject, json)
        return
    is_file = subject == "-" or subject.startswith("std:") or os.path.exists(subject)
    if not is_file and not explains_facts:
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


def _plan(asked: _Asked, side: int | None, setup: "Setup", policy: "Policy") -> None:
    files = asked.files(2, "two files, one for each operand")
    fact, limits = asked.fact(2), read_limits(asked.limit)
    if asked.of_facts or fact is not None:
        from lacec.cli.why import print_plan_why, read_asked

        question = read_asked(fact, asked.every, asked.absent, limits)
        given = (asked.facts, asked.store, limits, asked.json)
        print_plan_why(files, question, side, setup, policy, *given)
    else:
        from lacec.cli.program import print_side

        print_side(files, side, setup, policy, asked.facts, asked.store, limits, asked.json)


def _exchange(
    asked: _Asked,
    stores: tuple[Path | None, Path | None],
    policies: tuple[str | None, str | None],
    exposes: tuple[list[str], list[str]],
    keys: tuple[Path | None, Path | None],
    advertise: list[str] | None,
    origins: OriginMode,
    lowering: str | None,
) -> None:
    from lacec.cli.exchange import SideOptions
    from lacec.cli.explain_exchange import print_exchange_why
    from lacec.runtime.side import EXCHANGE_SECONDS

    if stores[0] is None or stores[1] is None:
        raise typer.BadParameter("an exchange takes two stores: give --left and --right")
    if len(asked.subjects) != 1:
        raise typer.BadParameter("give the hash of one record")
    left = SideOptions("left", stores[0], policies[0], exposes[0])
    right = SideOptions("right", stores[1], policies[1], exposes[1])
    limits = read_limits([f"seconds={EXCHANGE_SECONDS}", *(asked.limit or ())])
    print_exchange_why(
        asked.subjects[0], (left, right), keys, advertise, origins, lowering, limits, asked.json
    )


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
