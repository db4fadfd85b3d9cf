"""Where grammar/, stdlib/ and docs/rules/ are: inside the wheel, or in the checkout.

The wheel carries them under lacec/_resources (see pyproject.toml); a checkout
has them beside the package.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
_INSTALLED = _PACKAGE / "_resources"
# What the name of a source begins with that the standard library has.
LIBRARY = "std:"
ROOT = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent


def grammar_path() -> Path:
    return ROOT / "grammar" / "lacegram.lark"


def textmate_path() -> Path:
    return ROOT / "grammar" / "lace.tmLanguage.json"


def source_path(name: str) -> Path:
    """Where a source is: a file, or `std:NAME` where the library has one."""
    own = name.removeprefix(LIBRARY)
    return stdlib_path(own) if own != name and own in stdlib_names() else Path(name)


def stdlib_path(name: str) -> Path:
    return ROOT / "stdlib" / f"{name}.lace"


def stdlib_names() -> list[str]:
    return sorted(path.stem for path in (ROOT / "stdlib").glob("*.lace"))


def rule_page_path(name: str) -> Path:
    return ROOT / "docs" / "rules" / f"{name}.md"
