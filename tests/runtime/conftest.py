"""What several tests of exchanges look at."""

from typing import Any

import pytest

from lacec.engine.side import SideEvaluation, evaluate_side


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows with each full evaluation that really takes place."""
    found: list[object] = []

    def noted(*given: Any) -> SideEvaluation:
        found.append(given)
        return evaluate_side(*given)

    monkeypatch.setattr("lacec.runtime.exchange.side.evaluate_side", noted)
    return found
