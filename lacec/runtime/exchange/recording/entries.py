"""What beside messages and answers stands in a recording, as facts and back: how a side takes
part, what its machine was told, how it ended."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from lacec.core.origins import OriginMode
from lacec.plan.lowerings import LOWERINGS
from lacec.runtime.exchange.recording.answers import BadAnswerError, read_number
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.advertisement import Schema
from lacec.runtime.interlace.facts import Fact
from lacec.runtime.interlace.link import Config
from lacec.runtime.interlace.reasons import REASONS
from lacec.runtime.interlace.result import Result
from lacec.runtime.interlace.tick import LAST

HEAD: Mapping[str, int] = {"Recorded": 3}
CONFIG: Mapping[str, int] = {"Config": 2}
TOLD: Mapping[str, int] = {
    "At": 2,
    "Start": 0,
    "StoreChanged": 2,
    "OperandChanged": 1,
    "Progress": 1,
    "Finish": 0,
    "Cancel": 0,
    "Disconnected": 1,
    "Faulty": 1,
}
ENDS: Mapping[str, int] = {"Result": 2}

_TEXTS = ("claim", "nonce", "transport")
_FLAGS = ("demand_proof", "partitions", "open", "encrypted")
_NUMBERS = ("limits", "own_limits", "budget")


@dataclass(frozen=True)
class Part:
    """How a side takes part: its machine, and how it makes plans."""

    config: Config
    origins: OriginMode
    lowering: str


def part_facts(part: Part) -> Iterator[Fact]:
    config = part.config
    yield "Config", "module", config.module
    for name in _TEXTS:
        if (text := getattr(config, name)) is not None:
            yield "Config", name, text
    for name in _FLAGS:
        yield "Config", name, str(int(getattr(config, name)))
    for name in sorted(config.formats):
        yield "Config", "format", name
    for name in sorted(config.fields.names):
        yield "Config", "field", name
    yield "Config", "every_field", str(int(config.fields.every))
    yield "Config", "tick_interval", str(config.tick_interval)
    for group in _NUMBERS:
        values = getattr(config, group)
        for each in fields(values):
            yield "Config", f"{group}.{each.name}", str(getattr(values, each.name))
    yield "Config", "origins", part.origins.value
    yield "Config", "lowering", part.lowering


def read_part(side: int, facts: Iterable[Fact]) -> Part:
    texts: dict[str, str] = {}
    formats, names = set(), set()
    for _, name, value in facts:
        if name == "format":
            formats.add(value)
        elif name == "field":
            names.add(value)
        else:
            texts[name] = value
    try:
        config = Config(side, texts.pop("module"), formats=frozenset(formats))
        given: dict[str, Any] = {name: texts.pop(name) for name in _TEXTS if name in texts}
        given |= {name: _flag(texts.pop(name)) for name in _FLAGS}
        every = _flag(texts.pop("every_field"))
        given["tick_interval"] = read_number(texts.pop("tick_interval"))
        for group in _NUMBERS:
            default = getattr(config, group)
            taken = {f.name: read_number(texts.pop(f"{group}.{f.name}")) for f in fields(default)}
            given[group] = replace(default, **taken)
        origins, lowering = OriginMode(texts.pop("origins")), texts.pop("lowering")
    except KeyError as error:
        raise BadAnswerError(f"it does not say {error.args[0]}") from None
    except ValueError as error:
        raise BadAnswerError(str(error)) from None
    if texts:
        raise BadAnswerError(f"nobody knows {min(texts)[:40]!r}")
    config = replace(config, fields=Schema(frozenset(names), every), **given)
    if config.tick_interval < config.own_limits.shortest_tick or not config.tick_interval:
        raise BadAnswerError("its ticks are too short")
    if lowering not in LOWERINGS:
        raise BadAnswerError("there is no such lowering")
    return Part(config, origins, lowering)


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise BadAnswerError("what is yes or no is 1 or 0")
    return text == "1"


def told_facts(clock: e.Clock, events: Iterable[e.Event]) -> Iterator[Fact]:
    """What a machine was told, and when."""
    yield "At", str(clock.steady), str(clock.tai)
    yield from map(_told_fact, events)


def _told_fact(event: e.Event) -> Fact:
    match event:
        case e.StoreChanged(cursor, removed):
            return "StoreChanged", str(cursor), str(int(removed))
        case e.OperandChanged(module):
            return "OperandChanged", module
        case e.Progress(count):
            return "Progress", str(count)
        case e.Disconnected(whole):
            return "Disconnected", str(int(whole))
        case e.Faulty(reason):
            return "Faulty", reason
    return (type(event).__name__,)


def read_told(facts: Sequence[Fact]) -> list[e.Event]:
    """The time, and what a machine was told then."""
    if [fact[0] for fact in facts].count("At") != 1 or facts[0][0] != "At":
        raise BadAnswerError("it does not say at what time")
    return [_read_told(fact) for fact in facts]


def _read_told(fact: Fact) -> e.Event:
    match fact:
        case "At", steady, tai:
            clock = e.Clock(read_number(steady), read_number(tai))
            if clock.tai > LAST:
                raise BadAnswerError("its time is too late to be written")
            return clock
        case "Start", *_:
            return e.Start()
        case "StoreChanged", cursor, removed:
            return e.StoreChanged(read_number(cursor), _flag(removed))
        case "OperandChanged", module:
            return e.OperandChanged(module)
        case "Progress", count:
            return e.Progress(read_number(count))
        case "Disconnected", whole:
            return e.Disconnected(_flag(whole))
        case "Faulty", reason if reason in REASONS:
            return e.Faulty(reason)
        case "Finish", *_:
            return e.Finish()
        case "Cancel", *_:
            return e.Cancel()
    raise BadAnswerError("there is no such reason")


def result_facts(result: Result) -> list[Fact]:
    """Everything that a result says; what it does not say is left out."""
    found: list[Fact] = []
    for name, value in result.json().items():
        values = value if isinstance(value, list) else [value]
        found += [("Result", name, _text(each)) for each in values if each is not None]
    return found


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
