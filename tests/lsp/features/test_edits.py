"""The one edit that turns old lines into new ones."""

from hypothesis import example, given
from hypothesis import strategies as st

from lacec.lsp.features.edits import _difference
from lacec.lsp.positions import Positions
from lacec.lsp.workspace import Desk
from tests.lsp.editor import apply

POSITIONS = Positions(Desk(), lambda text: len(text.encode("utf-16-le")) // 2)
LINES = st.lists(st.sampled_from(["", "a", "b", "é😀"]), min_size=1, max_size=6)


@given(LINES, LINES)
@example(["a", ""], ["b", "a", ""])
@example(["a", "a"], ["a"])
@example([""], ["a", ""])
@example(["", "", "a"], ["a"])
def test_the_edit_makes_the_new_text(old: list[str], new: list[str]) -> None:
    edits = _difference(POSITIONS, tuple(old), new)
    assert apply("\n".join(old), edits) == "\n".join(new)
    assert (edits == []) == (old == new)


@given(st.text(st.sampled_from("aé😀"), max_size=6), st.integers(0, 6))
def test_columns_in_units_of_the_client_and_back(line: str, offset: int) -> None:
    offset = min(offset, len(line))
    assert POSITIONS.offset(line, POSITIONS.column(line, offset)) == offset
