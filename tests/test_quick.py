"""Which tests `make quick` runs for a change."""

import pytest

from tests.quick import ALWAYS, select


@pytest.mark.parametrize(
    ("changed", "run"),
    [
        ([], []),
        (["lacec/records/tai.py"], ["tests/records/test_tai.py"]),
        (["lacec/records/head.py"], ["tests/records"]),
        (["lacec/records/head.py", "lacec/records/tai.py"], ["tests/records"]),
        (["lacec/vm/live/overlay.py"], ["tests/vm/live/test_overlay.py"]),
        (["lacec/runtime/iltp/transports/tcp.py"], ["tests/runtime/iltp"]),
        (["lacec/__init__.py"], ["tests/test_api.py", "tests/test_plan_api.py"]),
        (["tests/records/made.py"], ["tests/records"]),
        (["tests/vm/test_text.py", "gone.txt"], ["tests/vm/test_text.py"]),
        (["README.md", "docs/why.md"], ["tests/test_docs.py"]),
    ],
)
def test_the_tests_that_mirror_a_change_are_run(changed: list[str], run: list[str]) -> None:
    assert select(changed) == sorted([ALWAYS, *run])
