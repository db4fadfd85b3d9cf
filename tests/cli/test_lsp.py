"""lacec lsp: what is said when it cannot start; tests/lsp has the rest."""

from tests.cli.run import python

WITHOUT = """
import sys
sys.modules["pygls"] = sys.modules["lsprotocol"] = None
sys.argv = ["lacec", "lsp"]
from lacec.__main__ import main
main()
"""


def test_without_pygls_the_command_says_what_to_install() -> None:
    result = python(["-c", WITHOUT])
    assert (result.code, result.out) == (2, "")
    assert "the language server needs the package lsprotocol" in result.err
    assert "pip install 'lacec[lsp]'" in result.err
