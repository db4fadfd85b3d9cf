"""lacec store compact: give room back."""

from lacec.cli.commands.store.common import StoreArgument, opened


def compact_command(store: StoreArgument) -> None:
    """Drop the bytes of removed records, and make one segment of all others.

    Example: lacec store compact mine
    """
    with opened(store) as target:
        target.compact()
