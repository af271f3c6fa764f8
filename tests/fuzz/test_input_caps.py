"""Long, wide and deep statements end in an error, soon, whatever they are made of."""

from __future__ import annotations

import pytest
from fuzz.long import deep, wide
from fuzz.outcome import prepared
from grammar.compiler import schema_of

from dpsql.bind.parse import MAX_CHARACTERS, MAX_TOKENS
from dpsql.bind.statement import bind
from dpsql.errors import TooComplex


@pytest.mark.parametrize("depth", [30, 100, 5000])
@pytest.mark.parametrize("kind", deep(1))
def test_nesting_is_answered_or_refused_soon(kind: str, depth: int) -> None:
    prepared(deep(depth)[kind], "clinic")


@pytest.mark.parametrize("count", [40, 400, 5000])
@pytest.mark.parametrize("kind", wide(1))
def test_chains_are_answered_or_refused_soon(kind: str, count: int) -> None:
    prepared(wide(count)[kind], "clinic")


def test_more_text_than_allowed_is_refused_by_its_length() -> None:
    text = "SELECT '" + "x" * MAX_CHARACTERS + "'"
    with pytest.raises(TooComplex, match="characters"):
        bind(text, schema_of("clinic"))


def test_more_words_than_allowed_are_refused_by_their_number() -> None:
    text = "SELECT " + "1," * MAX_TOKENS + "1"
    assert len(text) < MAX_CHARACTERS
    with pytest.raises(TooComplex, match="words"):
        bind(text, schema_of("clinic"))
