"""The grammar notes are true."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from notes.blocks import NOTES, Claim, claims, updated
from notes.compiler import SAYS


def says(claim: Claim) -> str:
    return SAYS[claim.about](claim.sql, claim.schema, claim.verified) + "\n"


@pytest.mark.parametrize("claim", list(claims()), ids=lambda claim: claim.name)
def test_note_is_true(claim: Claim, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-notes"):
        # Two workers would each write what the other one read.
        assert not {"CI", "PYTEST_XDIST_WORKER"} & {*os.environ}, "without -n"
        claim.note.write_text(updated(claim.note, says), encoding="utf-8")
    else:
        assert says(claim) == claim.expected


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
