"""Options in groups: a command that has many takes them as a few dataclasses.

    @dataclass(frozen=True)
    class Colours:
        front: Annotated[str, typer.Option("--front")] = "red"

    @grouped
    def paint_command(colours: Colours, wet: bool = False) -> None: ...

is to typer a command with the options --front and --wet.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer is to see it: each field of a dataclass is an option of its own."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind) and isinstance(kind, type):
            groups[parameter.name] = kind
            own = get_type_hints(kind, include_extras=True)
            parameters += [_parameter(field, own[field.name]) for field in fields(kind)]
        else:
            named = parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=kind)
            parameters.append(named)

    @wraps(command)
    def flat(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**made, **given)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return flat


def _parameter(field: Field[Any], annotation: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.name, kind, default=default, annotation=annotation)
