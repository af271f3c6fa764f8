"""The neighbour search over the corpora: TPC-H, BI tools' statements, and the written queries.

Those of the notes are attacked by test_bounds_hold. Seeds are fixed: nothing fails by chance.
"""

from __future__ import annotations

import pytest
from corpus.classes import LISTS_INDIVIDUALS, classes
from corpus.deviation import marks
from corpus.statement import Statement, analytic, tpch, written
from fuzz.pool import pool, private_tables
from grammar.compiler import prepared
from grammar.search import attack

DATABASES = 2
"""Each with a neighbour for every unit, up to two dozen."""

ACCEPTED = [
    *(s for number, s in tpch().items() if number not in LISTS_INDIVIDUALS),
    *(s for number, s in analytic().items() if not classes()[number].sqlstate),
    *(s for s in written() if "crash" not in marks(s)),
]


@pytest.mark.parametrize("trusted", [False, True], ids=["keys break", "keys hold"])
@pytest.mark.parametrize("statement", [pytest.param(s, id=s.name) for s in ACCEPTED])
def test_no_neighbour_changes_more_than_derived(statement: Statement, *, trusted: bool) -> None:
    verified = private_tables(statement.schema) if trusted else frozenset()
    ready = prepared(statement.sql, statement.schema, verified)
    for found in pool(statement.schema, verified, 0, DATABASES):
        attack(ready, found, statement.sql)
