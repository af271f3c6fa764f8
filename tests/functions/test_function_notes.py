"""Every function stands in a note, and every name in the notes' tables is a function."""

from __future__ import annotations

import re

import pytest
from notes.blocks import NOTES

from dpsql.plan.functions import ALIASES, FUNCTIONS

FAMILIES = ("functions_numeric.md", "functions_text.md", "functions_time.md")


def _named(note: str) -> set[str]:
    """The names in code in the note's first table."""
    text = (NOTES / note).read_text(encoding="utf-8")
    table = "\n".join(line for line in text.split("\n") if line.startswith("|"))
    return {name.replace("\\|", "|") for name in re.findall(r"`([^`]+)`", table)}


def test_every_function_is_named() -> None:
    named = set().union(*map(_named, FAMILIES))
    assert (FUNCTIONS.keys() | ALIASES.keys()) - named == set()


@pytest.mark.parametrize("note", FAMILIES)
def test_every_name_is_a_function(note: str) -> None:
    assert _named(note) - FUNCTIONS.keys() - ALIASES.keys() == set()
