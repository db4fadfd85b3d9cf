"""An editor for tests: a client of `lacec lsp` over standard input and output."""

import asyncio
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient

SECONDS = 60


class Heard(dict[str, Any]):
    """The last diagnostics of each file, and a list of what came in between."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []

    def __setitem__(self, uri: str, diagnostics: Any) -> None:
        self.order.append(uri)
        super().__setitem__(uri, diagnostics)


class Editor:
    """A client with one folder, and the words in which a test asks."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        heard = client.diagnostics = Heard()
        self.heard = heard.order
        self._versions: dict[str, int] = {}
        self._texts: dict[str, str] = {}

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def send(self, name: str, text: str) -> None:
        """Open a file, or change the whole of it."""
        uri = self.uri(name)
        version = self._versions[name] = self._versions.get(name, 0) + 1
        self._texts[name] = text
        self.client.diagnostics.pop(uri, None)
        if version == 1:
            item = types.TextDocumentItem(uri, "lace", version, text)
            self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            return
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def type(self, name: str, text: str) -> list[types.Diagnostic]:
        """The diagnostics of a file that is opened or changed."""
        self.send(name, text)
        return await self.published(name)

    async def published(self, name: str) -> list[types.Diagnostic]:
        """The next diagnostics of a file."""
        async with asyncio.timeout(SECONDS):
            while self.uri(name) not in self.client.diagnostics:
                await asyncio.sleep(0.005)
        return list(self.client.diagnostics[self.uri(name)])

    async def close(self, name: str) -> None:
        uri = self.uri(name)
        self.client.diagnostics.pop(uri, None)
        self._versions.pop(name)
        document = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))
        assert await self.published(name) == []

    def at(self, name: str, needle: str, after: int = 0) -> dict[str, Any]:
        """The document, and the position of a text in it, some characters on."""
        text = self._texts[name]
        before = text[: text.index(needle) + after]
        column = len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2
        position = types.Position(before.count("\n"), column)
        return {"text_document": types.TextDocumentIdentifier(self.uri(name)), "position": position}

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    def apply(self, name: str, edits: list[types.TextEdit]) -> str:
        return apply(self._texts[name], edits)


def apply(text: str, edits: list[types.TextEdit]) -> str:
    """A text after edits, with columns in UTF-16, as the protocol has it."""
    lines = text.split("\n")

    def offset(position: types.Position) -> int:
        here = lines[position.line].encode("utf-16-le")[: 2 * position.character]
        return sum(len(line) + 1 for line in lines[: position.line]) + len(here.decode("utf-16-le"))

    for edit in sorted(edits, key=lambda e: offset(e.range.start), reverse=True):
        start, end = offset(edit.range.start), offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


def names(diagnostics: list[types.Diagnostic]) -> list[object]:
    return [each.code for each in diagnostics]
