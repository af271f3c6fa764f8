"""The neighbour search over the corpora: TPC-H, BI tools' statements, and the written queries.

Those of the notes are attacked by test_bounds_hold. Seeds are fixed: nothing fails by chance.
"""

from __future__ import annotations

import pytest
from differential.classes import LISTS_INDIVIDUALS, classes
from differential.statement import Statement, analytic, tpch, written
from fuzz.pool import pool, private_tables
from neighbor_search.search import attack
from neighbor_search.share import in_turn
from notes.compiler import prepared

DATABASES = 3
"""Each with a neighbour for every unit; statements take turns with them."""

SHARE = 13
"""One in so many statements is attacked in every run, where keys hold or where they break."""

ACCEPTED = [
    *(s for number, s in tpch().items() if number not in LISTS_INDIVIDUALS),
    *(s for number, s in analytic().items() if not classes()[number].sqlstate),
    *written(),
]


@pytest.mark.parametrize(
    ("turn", "statement", "trusted"),
    in_turn(
        (
            (f"{statement.name}-keys {'hold' if trusted else 'break'}", (turn, statement, trusted))
            for turn, statement in enumerate(ACCEPTED)
            for trusted in (False, True)
        ),
        SHARE,
    ),
)
def test_no_neighbour_changes_more_than_derived(
    turn: int, statement: Statement, trusted: bool
) -> None:
    verified = private_tables(statement.schema) if trusted else frozenset()
    ready = prepared(statement.sql, statement.schema, verified)
    found = pool(statement.schema, verified, 0, DATABASES)[turn % DATABASES]
    attack(ready, found, statement.sql)
