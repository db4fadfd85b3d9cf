"""What all tests share: interrupts, the umask, and which process of `pytest -n` runs which."""

import os
import signal
from collections.abc import Iterator

import pytest
from xdist.remote import Producer
from xdist.scheduler import WorkStealingScheduling
from xdist.workermanage import WorkerController

# Who starts tests in the background of a script has them ignore SIGINT, and so would all that they
# start. They are to show what an interrupt does.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests that share what takes long to start: two groups, so that two processors have work.
_SPARK = "tests/spark/test_"
TOGETHER = (
    tuple(f"{_SPARK}{name}.py" for name in ("ingest", "pages", "session", "sides")),
    (_SPARK,),
)


def group_of(name: str) -> int | None:
    """Which group of TOGETHER a test belongs to."""
    return next((n for n, paths in enumerate(TOGETHER) if name.startswith(paths)), None)


class Scheduling(WorkStealingScheduling):  # type: ignore[misc]
    """Processes take tests from each other, but for those of TOGETHER: one process has all of
    a group, and begins with them. If it dies, the one that takes its place begins with what is
    left."""

    collection: list[str] | None
    pending: list[int]
    node2pending: dict[WorkerController, list[int]]

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        self.at_home: dict[WorkerController, list[int]] = {}
        self.waiting: dict[int, list[int]] = {}  # by group, for a home

    @property
    def tests_finished(self) -> bool:
        return not self.waiting and not self.at_home and bool(super().tests_finished)

    def check_schedule(self) -> None:
        names, others = self.collection or [], list[int]()
        for test in self.pending:
            group = group_of(names[test])
            (others if group is None else self.waiting.setdefault(group, [])).append(test)
        self.pending = others
        for group in [*self.waiting]:
            free = [
                node
                for node, own in self.node2pending.items()
                if not own and node not in self.at_home and not node.shutting_down
            ]
            if free:
                self.at_home[free[0]] = self.waiting.pop(group)
                free[0].send_runtest_some(self.at_home[free[0]])
        super().check_schedule()

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float | None = None
    ) -> None:
        if item_index in self.at_home.get(node, ()):
            self.at_home[node].remove(item_index)
            if not self.at_home[node]:
                del self.at_home[node]
            self.check_schedule()
        else:
            super().mark_test_complete(node, item_index, duration)

    def remove_node(self, node: WorkerController) -> str | None:
        self.node2pending[node][:0] = self.at_home.pop(node, ())
        crashed: str | None = super().remove_node(node)
        return crashed


@pytest.fixture
def usual_umask() -> Iterator[None]:
    """Others may read what the test makes, whatever they may of what this user makes."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    return Scheduling(config, log) if config.getvalue("dist") == "worksteal" else None
