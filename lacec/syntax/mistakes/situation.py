"""The situation in which a line is stuck, and the ways to mend its tokens."""

from dataclasses import dataclass

from lacec.core.diagnostics import Problem
from lacec.syntax.lexer import Token

Answer = tuple[Problem, list[Token] | None]

WORDS = frozenset({"CAPITAL", "NAME", "PRIVATE"})
STARTS = WORDS | {"CONSTANT", "ANONYMOUS", "NOT", "TRUE", "CARDINALITY"}


@dataclass(frozen=True, slots=True)
class Situation:
    """The tokens of a line, the first that does not fit, and the kinds that would."""

    tokens: list[Token]
    index: int
    expected: frozenset[str]

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def before(self) -> Token:
        return self.tokens[self.index - 1] if self.index else Token("START", "", 0, 0)

    @property
    def after(self) -> Token:
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)]

    def replace(self, kind: str, text: str, back: int = 0) -> list[Token]:
        """The tokens with the stuck one, or one before it, read as another."""
        at = self.index - back
        old = self.tokens[at]
        return [*self.tokens[:at], Token(kind, text, *old.span), *self.tokens[at + 1 :]]

    def insert(self, *kinds: str) -> list[Token]:
        """The tokens with some that were left out before the stuck one."""
        end = self.before.end
        new = [Token(kind, "", end, end) for kind in kinds]
        return [*self.tokens[: self.index], *new, *self.tokens[self.index :]]

    def delete(self, back: int = 0) -> list[Token]:
        at = self.index - back
        return [*self.tokens[:at], *self.tokens[at + 1 :]]
