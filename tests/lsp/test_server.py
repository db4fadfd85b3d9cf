"""Every feature of `lacec lsp`, asked by a client over standard input and output."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient

from lacec import __version__
from lacec.canonical.identifiers import rule_id
from lacec.core.resources import stdlib_path
from lacec.pipeline import compile_module
from tests.lsp.editor import Editor, names

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHARED = """# Who belongs to the group.
#:json {"label":"member","why":"A key that the group has listed."}
Member(V) :- Field(P,'Group',_,'keys'), Field(P,'Name',_,V).
"""
MINE = """# Links of members.
# They are shared.
Link(P) :- Have(P), Field(P,'Group',_,'u').
Selected(P) :- Link(P), Field(P,'Signed-By',_,V), Member(V).
Selected(P) :- Link(P), not Old(P).
Old(P) :- Have(P), Field(P,'App',_,'old').
"""
SETTINGS = """outputs = ["Selected/1"]
fields = ["Color"]
[[files]]
match = "mine*.lace"
with = ["shared.lace"]
[[files]]
match = "late.lace"
with = ["std:latest"]
[[files]]
match = "lost.lace"
with = ["nowhere.lace"]
"""
COMMAND = [sys.executable, "-m", "lacec", "lsp"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("policies")
    (folder / "lace.toml").write_text(SETTINGS, encoding="utf-8")
    (folder / "shared.lace").write_text(SHARED, encoding="utf-8")
    (folder / "mine.lace").write_text(MINE, encoding="utf-8")
    return folder


async def session(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    here = types.WorkspaceFolder(folder.as_uri(), "policies")
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    greeted = await lsp_client.initialize_session(
        types.InitializeParams(capabilities, workspace_folders=[here])
    )
    assert greeted.server_info == types.ServerInfo("lacec", __version__)
    yield
    await lsp_client.shutdown_session()


client = pytest_lsp.fixture(
    session, config=ClientServerConfig(server_command=COMMAND), scope="module"
)


@pytest.fixture(scope="module")
def editor(client: LanguageClient, folder: Path) -> Editor:
    return Editor(client, folder)


# Diagnostics.


async def test_diagnostics_come_with_each_change(editor: Editor) -> None:
    found = await editor.type("one.lace", "Selected(P) :- Feild(P,_,_,_).\n")
    assert names(found) == ["misspelt-predicate"]
    assert found[0].range == types.Range(types.Position(0, 15), types.Position(0, 20))
    assert found[0].severity == types.DiagnosticSeverity.Warning
    assert found[0].source == "lacec"
    assert "did you mean `Field`?" in found[0].message
    assert await editor.type("one.lace", "Selected(P) :- Have(P).\n") == []


async def test_a_half_typed_line_never_breaks_the_rest(editor: Editor) -> None:
    rest = "Selected(P) :- Have(P), Field(P,'Signed-By',_,V).\n"
    half = "Old(P) :- Have(P), Fie"
    for end in range(len(half) + 1):
        found = await editor.type("half.lace", f"{half[:end]}\n{rest}")
        assert "singleton-variable" in [each.code for each in found if each.range.start.line == 1]
    tail = editor.at("half.lace", "Have(P), Field(P,'S")
    said = await editor.client.text_document_hover_async(types.HoverParams(**tail))
    assert said is not None


async def test_of_many_changes_the_last_stands_and_stale_ones_are_given_up(
    editor: Editor,
) -> None:
    for n in range(200):
        editor.send("fast.lace", f"Selected(P) :- Have(P), Stale{n}(P).\n")
    editor.send("fast.lace", "Selected(P) :- Have(P).\n")
    while await editor.published("fast.lace"):
        await asyncio.sleep(0.01)
    assert editor.heard.count(editor.uri("fast.lace")) < 100


async def test_related_places_and_columns_in_the_units_of_the_client(editor: Editor) -> None:
    text = "A(P) :- Field(P,'😀',_,_), Feild(P,_,_,_).\nA(P) :- Have(P).\nA(Q) :- Have(Q).\n"
    found = {each.code: each for each in await editor.type("wide.lace", text)}
    assert found["misspelt-predicate"].range.start.character == 27  # the face counts twice
    related = found["duplicate-rule"].related_information
    assert related is not None
    assert related[0].location.range.start.line == 1


async def test_what_is_linked_counts_saved_or_not(editor: Editor) -> None:
    assert await editor.type("mine.lace", MINE) == []
    editor.client.diagnostics.pop(editor.uri("mine.lace"))
    await editor.type("shared.lace", SHARED.replace("Member(", "Members("))
    assert names(await editor.published("mine.lace")) == ["misspelt-predicate"]
    editor.client.diagnostics.pop(editor.uri("mine.lace"))
    await editor.type("shared.lace", SHARED)
    assert await editor.published("mine.lace") == []


async def test_a_linked_file_that_is_not_there_is_told(editor: Editor) -> None:
    found = await editor.type("lost.lace", "Selected(P) :- Have(P).\n")
    assert "nowhere.lace, which lace.toml names: no such file" in found[0].message


async def test_closing_a_file_takes_its_diagnostics_away(editor: Editor) -> None:
    assert await editor.type("gone.lace", "A(P) :-\n")
    await editor.close("gone.lace")


# What things are.


async def hovered(editor: Editor, name: str, needle: str, after: int = 0) -> str:
    params = types.HoverParams(**editor.at(name, needle, after))
    found = await editor.client.text_document_hover_async(params)
    if found is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def test_hover(editor: Editor) -> None:
    await editor.type("mine.lace", MINE)
    member = await hovered(editor, "mine.lace", "Member(V)", 2)
    assert "Member(V)" in member
    assert "member: A key that the group has listed." in member
    assert "Who belongs to the group." in member
    assert "`Member/1`: 1 rule, stratum 0" in member
    selected = await hovered(editor, "mine.lace", "Selected(P) :- Link(P), not", 1)
    assert "2 rules, stratum 1" in selected
    assert rule_id("Selected(P) :- Link(P), not Old(P).") in selected
    module = compile_module([("mine", MINE), ("shared", SHARED)])
    assert f"module `{module.id}`" in selected
    assert "one field of the record P" in await hovered(editor, "mine.lace", "Field(P,'Group'")
    assert "the verifier of a Seal" in await hovered(editor, "mine.lace", "'Signed-By'", 3)
    assert await hovered(editor, "mine.lace", ":- Have(P), Field(P,'App'", 1) == ""


async def test_hover_over_builtins(editor: Editor) -> None:
    text = "Selected(P) :- Have(P), TextShape(P,'a','',''), Cardinality(Have(P),'<','2').\n"
    await editor.type("builtin.lace", text)
    shape = await hovered(editor, "builtin.lace", "TextShape", 4)
    assert "TextShape(Text,Start,Delims,End)" in shape
    assert "Start, anything, End" in shape
    assert "No match counts as zero" in await hovered(editor, "builtin.lace", "Cardinality", 4)


async def test_signature_help(editor: Editor) -> None:
    text = "Pair(P,Q) :- Have(P), Have(Q), P != Q.\nSelected(P) :- Field(P,'Group',\nA(P) :- Pair(P"
    await editor.type("sign.lace", text)
    params = types.SignatureHelpParams(**editor.at("sign.lace", "'Group',", 8))
    found = await editor.client.text_document_signature_help_async(params)
    assert found is not None
    assert found.signatures[0].label == "Field(P,Name,Index,Value)"
    assert found.active_parameter == 2
    params = types.SignatureHelpParams(**editor.at("sign.lace", "- Pair(P", 8))
    found = await editor.client.text_document_signature_help_async(params)
    assert found is not None
    assert [each.label for each in found.signatures] == ["Pair(P,Q)"]
    assert found.active_parameter == 0
    params = types.SignatureHelpParams(**editor.at("sign.lace", "P != Q"))
    assert await editor.client.text_document_signature_help_async(params) is None


# Completion.


async def completed(editor: Editor, name: str, text: str) -> dict[str, types.CompletionItem]:
    """What is offered where the text has a `|`."""
    await editor.type(name, text.replace("|", "", 1))
    at = text.index("|")
    params = types.CompletionParams(**editor.at(name, text[:at], at))
    found = await editor.client.text_document_completion_async(params)
    assert isinstance(found, types.CompletionList)
    return {each.label: each for each in found.items}


async def test_completion_of_predicates_and_builtins(editor: Editor) -> None:
    found = await completed(editor, "mine2.lace", MINE + "Selected(P) :- Have(P), Me|\n")
    assert {"Member", "Link", "Field", "IntCompare", "Cardinality", "not", "true"} <= set(found)
    assert found["Member"].insert_text == "Member(${1:V})"
    assert found["Field"].insert_text == "Field(${1:P},${2:Name},${3:Index},${4:Value})"
    assert found["Field"].detail == "Field/4"


async def test_completion_within_quotes(editor: Editor) -> None:
    found = await completed(editor, "quote.lace", "A(P) :- Field(P,'Si|\n")
    assert {"Signed-By", "Group", "Color"} <= set(found)
    edit = found["Signed-By"].text_edit
    assert isinstance(edit, types.TextEdit)
    assert editor.apply("quote.lace", [edit]) == "A(P) :- Field(P,'Signed-By\n"
    found = await completed(editor, "quote.lace", "A(P) :- Have(P), IntCompare(P,'|\n")
    assert set(found) == {"<", "<=", ">", ">="}


async def test_completion_of_variables_and_heads(editor: Editor) -> None:
    found = await completed(editor, "heads.lace", "Selected(Record) :- Have(Re|), Link(Other).\n")
    assert {"Record", "Other", "_"} <= set(found)
    found = await completed(editor, "heads.lace", "Selected(P) :- Have(P).\nSe|\n")
    assert "Selected" in found
    snippet = found["Newer (std:latest, later)"]
    assert snippet.kind == types.CompletionItemKind.Snippet
    assert snippet.insert_text is not None
    assert snippet.insert_text.startswith("Newer(P,Q) :- Candidate(P,TP)")
    assert await completed(editor, "heads.lace", "# a comment Ha|\n") == {}


# Names.


async def test_definition_in_a_linked_file_and_in_the_library(editor: Editor) -> None:
    await editor.type("mine.lace", MINE)
    params = types.DefinitionParams(**editor.at("mine.lace", "Member(V)", 1))
    found = await editor.client.text_document_definition_async(params)
    assert isinstance(found, list)
    assert [
        (each.uri, each.range.start.line) for each in found if isinstance(each, types.Location)
    ] == [(editor.uri("shared.lace"), 2)]
    late = "Candidate(P,T) :- Field(P,'TAI',_,T).\nSelected(P) :- Newer(P,_).\n"
    await editor.type("late.lace", late)
    params = types.DefinitionParams(**editor.at("late.lace", "Newer"))
    found = await editor.client.text_document_definition_async(params)
    assert isinstance(found, list)
    assert {each.uri for each in found if isinstance(each, types.Location)} == {
        stdlib_path("latest").as_uri()
    }


async def test_references(editor: Editor) -> None:
    await editor.type("mine.lace", MINE)
    await editor.type("shared.lace", SHARED)
    for declarations, lines in ((True, [2, 3, 4]), (False, [3, 4])):
        context = types.ReferenceContext(declarations)
        where = editor.at("mine.lace", "Link(P)")
        found = await editor.client.text_document_references_async(
            types.ReferenceParams(context=context, **where)
        )
        assert found is not None
        assert [each.range.start.line for each in found] == lines
    where = editor.at("shared.lace", "Member")  # who links this file is found in the folder
    found = await editor.client.text_document_references_async(
        types.ReferenceParams(context=types.ReferenceContext(False), **where)
    )
    assert found is not None
    assert editor.uri("mine.lace") in [each.uri for each in found]
    where = editor.at("mine.lace", "P), Field(P,'Signed-By'")  # a variable, in its rule alone
    found = await editor.client.text_document_references_async(
        types.ReferenceParams(context=types.ReferenceContext(True), **where)
    )
    assert found is not None
    assert [each.range.start.line for each in found] == [3, 3, 3]


async def renamed(editor: Editor, name: str, needle: str, new: str) -> dict[str, str]:
    params = types.RenameParams(new_name=new, **editor.at(name, needle))
    found = await editor.client.text_document_rename_async(params)
    assert found is not None
    assert found.changes is not None
    by_uri = {editor.uri(each): each for each in ("mine.lace", "shared.lace")}
    return {by_uri[uri]: editor.apply(by_uri[uri], list(e)) for uri, e in found.changes.items()}


async def test_rename(editor: Editor) -> None:
    await editor.type("mine2.lace", "Selected(P) :- Have(P).\n")
    await editor.type("mine.lace", MINE)
    await editor.type("shared.lace", SHARED)
    assert await renamed(editor, "mine.lace", "Member(V)", "Listed") == {
        "mine.lace": MINE.replace("Member", "Listed"),
        "shared.lace": SHARED.replace("Member", "Listed"),
    }
    after = await renamed(editor, "mine.lace", "V), Member", "Signer")
    assert after == {"mine.lace": MINE.replace("V)", "Signer)")}
    params = types.PrepareRenameParams(**editor.at("mine.lace", "Link(P)", 2))
    ready = await editor.client.text_document_prepare_rename_async(params)
    assert ready == types.Range(types.Position(2, 0), types.Position(2, 4))


@pytest.mark.parametrize(
    ("needle", "new", "why"),
    [
        ("Have(P)", "Has", "belongs to the language"),
        ("Link(P)", "1st", "is not the name"),
        ("Link(P)", "Have", "belongs to the language"),
        ("Link(P)", "Old", "is there already"),
        ("Link(P)", "Not a name", "is not the name"),
        ("V), Member", "P", "has a variable `P` already"),
        ("V), Member", "v", "begin with A to Z"),
    ],
)
async def test_a_rename_that_would_do_harm_is_refused(
    editor: Editor, needle: str, new: str, why: str
) -> None:
    await editor.type("mine.lace", MINE)
    params = types.RenameParams(new_name=new, **editor.at("mine.lace", needle))
    with pytest.raises(JsonRpcException, match=why):
        await editor.client.text_document_rename_async(params)


async def test_symbols(editor: Editor) -> None:
    await editor.type("shared.lace", SHARED)
    params = types.DocumentSymbolParams(editor.document("shared.lace"))
    found = await editor.client.text_document_document_symbol_async(params)
    assert found is not None
    assert [(each.name, getattr(each, "detail", None)) for each in found] == [
        ("Member/1", "member")
    ]
    everywhere = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("mbr"))
    assert everywhere is not None
    assert [(each.name, each.location.uri) for each in everywhere] == [
        ("Member/1", editor.uri("shared.lace"))
    ]


# How it looks.


async def test_semantic_tokens(editor: Editor) -> None:
    await editor.type("paint.lace", "# é\nA(P) :- not Have(P), Field(P,'😀',_,X), B(\n")
    params = types.SemanticTokensParams(editor.document("paint.lace"))
    found = await editor.client.text_document_semantic_tokens_full_async(params)
    assert found is not None
    rows = [tuple(found.data[n : n + 5]) for n in range(0, len(found.data), 5)]
    assert rows[:6] == [
        (0, 0, 3, 3, 0),  # a comment
        (1, 0, 1, 0, 1),  # A, defined here
        (0, 2, 1, 1, 0),  # P
        (0, 3, 2, 6, 0),  # :-
        (0, 3, 3, 5, 0),  # not
        (0, 4, 4, 0, 2),  # Have, of the language
    ]
    assert (0, 2, 4, 2, 0) in rows  # the constant: two quotes, and a face of two units


async def test_folding(editor: Editor) -> None:
    await editor.type("mine.lace", MINE)
    params = types.FoldingRangeParams(editor.document("mine.lace"))
    found = await editor.client.text_document_folding_range_async(params)
    assert found is not None
    assert [(each.start_line, each.end_line, each.kind) for each in found] == [
        (0, 1, types.FoldingRangeKind.Comment),
        (3, 4, None),
    ]


async def test_inlay_hints_say_which_arguments_are_bound(editor: Editor) -> None:
    await editor.type("mine.lace", MINE)
    whole = types.Range(types.Position(3, 0), types.Position(4, 0))
    params = types.InlayHintParams(editor.document("mine.lace"), whole)
    found = await editor.client.text_document_inlay_hint_async(params)
    assert found is not None
    line = MINE.split("\n")[3]
    marked = line
    for hint in sorted(found, key=lambda each: each.position.character, reverse=True):
        if hint.position.line == 3:
            at = hint.position.character
            marked = marked[:at] + str(hint.label) + marked[at:]
    assert marked == "Selected(P) :- Link(P), Field(=P,'Signed-By',_,V), Member(=V)."


# Changes.


async def test_formatting(editor: Editor) -> None:
    text = "# kept\nA( P ):-Have(P) .\n\n\n\nB(P) :- A(P).\n"
    await editor.type("ugly.lace", text)
    options = types.FormattingOptions(4, True)
    params = types.DocumentFormattingParams(editor.document("ugly.lace"), options)
    found = await editor.client.text_document_formatting_async(params)
    assert found is not None
    tidy = editor.apply("ugly.lace", list(found))
    assert tidy == "# kept\nA(P) :- Have(P).\n\nB(P) :- A(P).\n"
    await editor.type("ugly.lace", tidy)
    assert not await editor.client.text_document_formatting_async(params)
    await editor.type("ugly.lace", text + "C(P) :- (")
    assert not await editor.client.text_document_formatting_async(params)


async def test_code_actions(editor: Editor) -> None:
    text = (
        "Selected(P) :- Have(P), Field(P,'Signed-by',_,V).\n"
        "Selected(P) :- Have(P), Field(P,'TAI',_,T).\n"
    )
    await editor.type("fix.lace", text)
    first = types.Range(types.Position(0, 0), types.Position(0, 1))
    params = types.CodeActionParams(editor.document("fix.lace"), first, types.CodeActionContext([]))
    found = await editor.client.text_document_code_action_async(params)
    assert found is not None
    fixed = {}
    for action in found:
        assert isinstance(action, types.CodeAction)
        assert action.edit is not None
        assert action.edit.changes is not None
        edits = list(action.edit.changes[editor.uri("fix.lace")])
        fixed[action.title] = (action.kind, editor.apply("fix.lace", edits))
    assert fixed == {
        "write 'Signed-By'": ("quickfix", text.replace("-by", "-By")),
        "write `_`": ("quickfix", text.replace(",V)", ",_)")),
        "fix all that keep what the module means": (
            "source.fixAll",
            text.replace(",V)", ",_)").replace(",T)", ",_)"),
        ),
    }
    params.context.only = [types.CodeActionKind.SourceFixAll]
    found = await editor.client.text_document_code_action_async(params)
    assert found is not None
    assert [each.title for each in found] == ["fix all that keep what the module means"]
