"""What all transports need to listen: what is called for each connection, and a way to stop."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from lacec.runtime.iltp.channel import Channel
from lacec.runtime.iltp.framing.address import Address

# Called for each connection that was accepted; the connection lasts until it returns.
Accepted = Callable[[Channel], Awaitable[None]]


class Listening(Protocol):
    address: Address  # with the port that was chosen, where any was wanted

    async def stop(self) -> None:
        """Accept no more connections; those that are go on."""
