"""lacec std list: the modules of the standard library."""

from lacec.cli.options import JsonOption
from lacec.cli.render.output import write, write_json
from lacec.core.resources import LIBRARY
from lacec.project.library import library


def list_command(json: JsonOption = False) -> None:
    """List the modules of the standard library, and what each is for.

    A module is linked with --with std:NAME, or by `with` in a lace.toml.

    Example: lacec std list
    """
    found = library()
    if json:
        write_json({"modules": [module.json() for module in found]})
        return
    width = max(len(module.name) for module in found) + len(LIBRARY)
    for module in found:
        write([(f"{LIBRARY + module.name:{width}}", "bold"), (f"  {module.summary}\n", "")])
