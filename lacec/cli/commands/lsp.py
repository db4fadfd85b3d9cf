"""lacec lsp: the language server, for editors."""

import typer


def lsp_command() -> None:
    """Answer an editor on standard input and output, in the Language Server Protocol.

    Editors start it: docs/editors.md has the few lines that each needs.

    Example: lacec lsp
    """
    try:
        from lacec.lsp.server import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise typer.BadParameter(
            f"the language server needs the package {error.name}: pip install 'lacec[lsp]'"
        ) from None
    serve()
