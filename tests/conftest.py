"""Which process runs which test, where `pytest -n` starts several."""

import pytest
from xdist.remote import Producer
from xdist.scheduler import WorkStealingScheduling
from xdist.workermanage import WorkerController

# Tests that share what takes long to start.
TOGETHER = "tests/spark/"


class Scheduling(WorkStealingScheduling):  # type: ignore[misc]
    """Processes take tests from each other, but for those of TOGETHER: one process has them all,
    and begins with them. If it dies, the one that takes its place begins with what is left."""

    collection: list[str] | None
    pending: list[int]
    node2pending: dict[WorkerController, list[int]]

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        self.home: WorkerController | None = None
        self.at_home: list[int] = []
        self.waiting: list[int] = []  # for a home

    @property
    def tests_finished(self) -> bool:
        return not self.waiting and bool(super().tests_finished)

    def check_schedule(self) -> None:
        names = self.collection or []
        self.waiting += [i for i in self.pending if names[i].startswith(TOGETHER)]
        self.pending = [i for i in self.pending if not names[i].startswith(TOGETHER)]
        free = [n for n, own in self.node2pending.items() if not own and not n.shutting_down]
        if self.waiting and free:
            self.home, self.at_home, self.waiting = free[0], self.waiting, []
            self.home.send_runtest_some(self.at_home)
        super().check_schedule()

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float | None = None
    ) -> None:
        if node is self.home and item_index in self.at_home:
            self.at_home.remove(item_index)
            self.check_schedule()
        else:
            super().mark_test_complete(node, item_index, duration)

    def remove_node(self, node: WorkerController) -> str | None:
        if node is self.home:
            self.node2pending[node][:0] = self.at_home
            self.home, self.at_home = None, []
        crashed: str | None = super().remove_node(node)
        return crashed


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    return Scheduling(config, log) if config.getvalue("dist") == "worksteal" else None
