"""The grammar notes are true."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from notes.blocks import LINK, NOTES, Claim, claims, updated
from notes.compiler import SAYS

MOST_LINES = 40
"""Of SQL that stands in a note itself."""


def says(claim: Claim) -> str:
    return SAYS[claim.about](claim.sql, claim.schema, claim.verified) + "\n"


@pytest.mark.parametrize("claim", list(claims()), ids=lambda claim: claim.name)
def test_note_is_true(claim: Claim, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-notes"):
        # Two workers would each write what the other one read.
        assert not {"CI", "PYTEST_XDIST_WORKER"} & {*os.environ}, "without -n"
        for file, text in updated(claim.note, says).items():
            file.write_text(text, encoding="utf-8")
    else:
        assert says(claim) == claim.expected


def test_long_sql_stands_beside_its_note_each_file_for_one_claim() -> None:
    files = [claim.file for claim in claims() if claim.file is not None]
    assert sorted(files) == sorted((NOTES / "rewritten").iterdir())
    links = sum(note.read_text(encoding="utf-8").count(LINK) for note in NOTES.glob("*.md"))
    assert links == len(files)
    for claim in claims():
        if claim.about == "rewritten":
            assert (claim.expected.count("\n") > MOST_LINES) == (claim.file is not None), claim.name


@pytest.mark.parametrize("note", sorted(NOTES.glob("*.md")), ids=lambda note: note.stem)
def test_names_in_notes_exist(note: Path) -> None:
    for name in re.findall(r"`(dpsql(?:\.\w+)+)`", note.read_text(encoding="utf-8")):
        assert _resolves(name), f"{note.name} names {name}"


@cache
def _resolves(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False
