"""Errors name the page that argues their rule, and it is there."""

from __future__ import annotations

import ast
import importlib.metadata
import re
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest
from notes.blocks import NOTES

from dpsql.errors import Refused
from dpsql.pgwire.error_response import fields
from dpsql.report.documentation import LABEL, link
from dpsql.report.terminal.error_message import describe

PACKAGE = Path(__file__).parent.parent.parent / "dpsql"


def named() -> Iterator[tuple[str, ast.expr]]:
    """Where a call has `note=`, and what it says there."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                where = f"{file.relative_to(PACKAGE)}:{node.lineno}"
                yield from ((where, k.value) for k in node.keywords if k.arg == "note")


def sections(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made of them on the web."""
    headings = re.findall(r"^#+ +(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text.lower()).strip().replace(" ", "-") for text in headings}


def test_every_note_of_an_error_is_a_page_that_is_there() -> None:
    found = list(named())
    assert len(found) > 50
    for where, value in found:
        assert isinstance(value, ast.Constant), f"{where}: write the page's name out"
        name, _, section = str(value.value).partition("#")
        page = NOTES / f"{name}.md"
        assert page.is_file(), f"{where}: there is no page {name}"
        assert not section or section in sections(page), f"{where}: {name} has no {section}"


def test_an_error_ends_with_a_path_where_the_project_has_no_url(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: Message())
    error = Refused("no rule", hint="write this", note="window")
    *_, see, sqlstate = describe(error).splitlines()
    assert see == f"see: {link('window')}"
    assert sqlstate == "sqlstate: 0A000"
    assert Path(see.removeprefix("see: ")).read_text(encoding="utf-8").startswith("# ")


def test_without_a_note_or_a_page_there_is_no_link() -> None:
    assert "see: " not in describe(Refused("no rule"))
    assert "see: " not in describe(Refused("no rule", note="no_such_page"))


def test_a_link_begins_with_the_projects_url(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Message()
    found["Project-URL"] = "Homepage, https://example.org"
    found["Project-URL"] = f"{LABEL}, https://example.org/notes/"
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: found)
    assert link("window") == "https://example.org/notes/window.md"
    assert link("window#frames") == "https://example.org/notes/window.md#frames"


def test_a_client_of_the_server_gets_no_link() -> None:
    told = fields(Refused("no rule", hint="write this", note="window"))
    assert "window" not in "".join(told.values())
