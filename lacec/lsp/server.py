"""`lacec lsp`: the protocol on standard input and output, and when diagnostics are published.

A change waits a moment for the next; what is under way for older text is given up between
its steps. Everything else is answered from the text of the moment.
"""

import asyncio
import gc
import logging
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from lacec import __version__
from lacec.lsp.features import completion, edits, hover, names, semantic_tokens
from lacec.lsp.positions import Positions, path_of, uri_of
from lacec.lsp.workspace import Desk

# Shorter than the time between two keystrokes of one who types fast.
PAUSE_SECONDS = 0.003


class LaceServer(LanguageServer):
    """The server of one editor. The whole text comes with a change: lines are cut at LF alone."""

    def __init__(self) -> None:
        super().__init__("lacec", __version__, types.TextDocumentSyncKind.Full)
        self.desk = Desk()
        self.positions = Positions(self.desk, self._units)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        _register(self)

    def _units(self, text: str) -> int:
        units: int = self.workspace.position_codec.client_num_units(text)
        return units

    def changed(self, uri: str) -> None:
        """Publish again for a file, and for the open ones that are linked with it."""
        path = path_of(uri)
        self.desk.put(path, self.workspace.get_text_document(uri).source)
        self.refresh(path)

    def refresh(self, path: str) -> None:
        before = self._tasks.pop(path, None)
        if before is not None:
            before.cancel()
        task = asyncio.get_running_loop().create_task(self._refresh(path))
        self._tasks[path] = task
        task.add_done_callback(lambda done: self._done(path, done))

    def _done(self, path: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(path) is task:
            del self._tasks[path]
        if not task.cancelled() and (error := task.exception()) is not None:
            logging.getLogger(__name__).error("cannot check %s", path, exc_info=error)

    async def _refresh(self, path: str) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        for each in (path, *self.desk.linked_to(path)):
            version = self._version(each)
            steps = self.desk.steps(each)
            while True:
                try:
                    next(steps)
                except StopIteration as stop:
                    found = edits.published(self.positions, stop.value)
                    break
                await asyncio.sleep(0)
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri_of(each), found, version)
            )

    def _version(self, path: str) -> int | None:
        return self.workspace.get_text_document(uri_of(path)).version

    def closed(self, uri: str) -> None:
        path = path_of(uri)
        before = self._tasks.pop(path, None)
        if before is not None:
            before.cancel()
        self.desk.drop(path)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def _register(server: LaceServer) -> None:
    """Each method of the protocol and who answers it."""
    _follow(server)
    desk, positions = server.desk, server.positions

    def answer(method: str, options: Any, run: Callable[[Any], Any]) -> None:
        server.feature(method, options)(run)

    def at(function: Callable[..., Any]) -> Callable[[Any], Any]:
        return lambda p: function(desk, positions, path_of(p.text_document.uri), p.position)

    def about(function: Callable[..., Any], *more: str) -> Callable[[Any], Any]:
        return lambda p: function(
            desk, positions, path_of(p.text_document.uri), *(getattr(p, each) for each in more)
        )

    answer(types.TEXT_DOCUMENT_HOVER, None, at(hover.hover))
    triggers = types.SignatureHelpOptions(["(", ","])
    answer(types.TEXT_DOCUMENT_SIGNATURE_HELP, triggers, at(hover.signature_help))
    answer(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=completion.TRIGGERS),
        lambda p: completion.completion(
            desk, positions, path_of(p.text_document.uri), p.position, _has_snippets(server)
        ),
    )
    answer(types.TEXT_DOCUMENT_DEFINITION, None, at(names.definition))
    answer(
        types.TEXT_DOCUMENT_REFERENCES,
        None,
        lambda p: names.references(
            desk,
            positions,
            path_of(p.text_document.uri),
            p.position,
            p.context.include_declaration,
        ),
    )
    renaming = types.RenameOptions(prepare_provider=True)
    answer(types.TEXT_DOCUMENT_RENAME, renaming, _said(about(names.rename, "position", "new_name")))
    answer(types.TEXT_DOCUMENT_PREPARE_RENAME, None, _said(at(names.prepare_rename)))
    answer(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, None, about(names.document_symbols))
    answer(
        types.WORKSPACE_SYMBOL,
        None,
        lambda p: names.workspace_symbols(desk, positions, p.query),
    )
    answer(
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        semantic_tokens.LEGEND,
        about(semantic_tokens.semantic_tokens),
    )
    answer(types.TEXT_DOCUMENT_FORMATTING, None, about(edits.format))
    answer(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(edits.KINDS),
        lambda p: edits.code_actions(
            desk, positions, path_of(p.text_document.uri), p.range, p.context.only
        ),
    )
    answer(
        types.TEXT_DOCUMENT_FOLDING_RANGE,
        None,
        lambda p: semantic_tokens.folding(desk, path_of(p.text_document.uri)),
    )
    answer(types.TEXT_DOCUMENT_INLAY_HINT, None, about(semantic_tokens.inlay_hints, "range"))


def _follow(server: LaceServer) -> None:
    """What the editor tells: which files are open, and how they change."""

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        folders = [path_of(folder.uri) for folder in server.workspace.folders.values()]
        root = server.workspace.root_path
        server.desk.folders[:] = folders or ([root] if root else [])
        gc.freeze()  # what was imported stays: looking through it again takes time

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(_: types.DidChangeWatchedFilesParams) -> None:
        for path in server.desk.open:
            server.refresh(path)


def _said(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A refusal goes to the editor in its own words."""

    def answer(params: Any) -> Any:
        try:
            return run(params)
        except names.RenameError as error:
            raise JsonRpcInvalidParams(str(error)) from None

    return answer


def _has_snippets(server: LaceServer) -> bool:
    found: Any = server.client_capabilities
    for name in ("text_document", "completion", "completion_item", "snippet_support"):
        found = getattr(found, name, None)
    return bool(found)


def serve() -> None:
    """Answer an editor until it says goodbye."""
    logging.getLogger("pygls").setLevel(logging.ERROR)
    LaceServer().start_io()
