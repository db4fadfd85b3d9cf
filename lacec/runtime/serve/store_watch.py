"""What other processes store while links are open: told to them, soon."""

import asyncio
from concurrent.futures import Executor

from lacec.runtime.exchange.watch import Watch
from lacec.runtime.iltp.session import Lace
from lacec.store.store import Store

STEP = 0.2  # seconds between two looks


async def watch_store(lace: Lace, store: Store, executor: Executor) -> None:
    """Look again and again, in the thread to which the store belongs, until cancelled."""
    loop = asyncio.get_running_loop()
    watch = await loop.run_in_executor(executor, Watch, store)
    while True:
        await asyncio.sleep(STEP)
        for change in await loop.run_in_executor(executor, watch.look):
            lace.changed(change.removed)
