"""What pages show of Spark is what happens, on the session that all tests share."""

from pathlib import Path

import pytest

from tests.test_docs import ON_SPARK, examples, run_shown

__all__ = ["examples"]


@pytest.mark.parametrize("block", ON_SPARK)
@pytest.mark.usefixtures("spark")
def test_commands_print_what_the_page_shows(block: str, examples: Path) -> None:
    run_shown(block, examples)
