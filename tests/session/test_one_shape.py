"""Random statements that differ in constants alone, asked in turn, are what each is by itself."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random

import duckdb
import pytest
from fuzz.generated_schema import made
from fuzz.one_shape import OneShape
from neighbor_search.public_rows import create_tables
from neighbor_search.share import values_in_turn
from session.by_shape import forget, outcome

from dpsql.bind.syntax.parse import tokens
from dpsql.errors import Error
from dpsql.session.session import Session

SCHEMAS = 2
"""Of each turn."""

STATEMENTS, TAME, HOSTILE = 10, 3, 5
"""How many statements are asked of each schema, each with how many constants."""

ORDINARY, ALL = 3, 100
"""Turns of which every run tries one, and of a long run."""

TURNS = [
    *values_in_turn(range(ORDINARY), ORDINARY),
    *(pytest.param(n, marks=pytest.mark.slow) for n in range(ORDINARY, ALL)),
]


@pytest.mark.parametrize("turn", TURNS)
def test_statements_of_one_shape_are_what_each_is_by_itself(turn: int, tmp_path: Path) -> None:
    """Their SQL, sensitivities, noise, price, keys, types and names, or why they are refused."""
    of_shape = sum(_asked(Random(f"{turn} {n}"), tmp_path / str(n)) for n in range(SCHEMAS))
    # Of others, whose statements are what chance makes them, some have none.
    assert turn >= ORDINARY or of_shape >= SCHEMAS


def _asked(random: Random, folder: Path) -> int:
    """How many statements over a schema weren't bound, since their shape was known."""
    folder.mkdir()
    found = made(random, folder)
    with closing(duckdb.connect(folder / "generated.duckdb")) as connection:
        create_tables(connection, found.schema, found.rows)
    of_shape = 0
    with closing(Session(found.schema)) as session, closing(Session(found.schema)) as alone:
        for _ in range(STATEMENTS):
            statement = OneShape(random, found.schema)
            texts = [statement.tame() for _ in range(TAME)]
            for text in [*texts, *(statement.hostile() for _ in range(HOSTILE)), texts[0]]:
                of_shape += _is_of_shape(session, text)
                forget(alone)
                assert outcome(session, text) == outcome(alone, text), text
    return of_shape


def _is_of_shape(session: Session, text: str) -> bool:
    try:
        return session.whole.shapes.statement(tokens(text)) is not None
    except Error:
        return False
