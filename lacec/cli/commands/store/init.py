"""lacec store init: a new store."""

from lacec.cli.commands.store.common import StoreArgument, refuse_store
from lacec.cli.options import JsonOption
from lacec.cli.render.output import write_json
from lacec.core.errors import StoreError
from lacec.store.store import Store


def init_command(store: StoreArgument, json: JsonOption = False) -> None:
    """Make a store in a folder that is not there yet, or is empty.

    Example: lacec store init mine
    """
    try:
        Store.create(store).close()
    except StoreError as error:
        refuse_store(error, json)
    if json:
        write_json({"store": str(store)})
