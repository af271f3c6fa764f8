"""Whether a statement of dpsql's own is answered doesn't depend on rows, on any schema.

A case is a generated schema with its rows, without one unit's, and without any. A statement that
fails is an answer, too: outcomes, messages and what is charged have to be those of no rows.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from data.database import attached
from fuzz.generated_schema import Made, made
from fuzz.own_statement import own_statement
from neighbor_search.public_rows import create_tables
from neighbor_search.share import values_in_turn
from privacy.seeded import SeededRandomness

from dpsql.audit.databases.unit_ownership import Rows, units_of_rows, without
from dpsql.dbapi.connection import Connection
from dpsql.errors import Error
from dpsql.schema.model import Public
from dpsql.session.session import Session

ORDINARY = 2
LONG = int(os.environ.get("DPSQL_CASES", "2000")) // 10
"""Schemas; each is asked several statements, in three databases."""

STATEMENTS = 10


@pytest.mark.parametrize("case", values_in_turn(range(ORDINARY), ORDINARY))
def test_no_row_decides_whether_a_statement_is_answered(case: int, tmp_path: Path) -> None:
    told = _compare(Random(f"own statements {case}"), tmp_path)
    assert told["answered"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("case", range(LONG))
def test_no_row_decides_whether_a_statement_is_answered_at_length(
    case: int, tmp_path: Path
) -> None:
    _compare(Random(f"own statements at length {case}"), tmp_path)


def _compare(random: Random, folder: Path) -> Counter[str]:
    """How many statements were answered, and how many refused, wherever they were asked."""
    found, told = made(random, folder), Counter[str]()
    statements = [own_statement(random, found) for _ in range(STATEMENTS)]
    outcomes = [
        list(_outcomes(found, rows, folder / str(place), statements))
        for place, rows in enumerate(_worlds(random, found))
    ]
    for sql, *each in zip(statements, *outcomes, strict=True):
        assert len({*each}) == 1, f"{sql}\n{each}\n{found.text}{found.rows}"
        told["answered" if each[0][0] == "" else "refused"] += 1
    return told


def _worlds(random: Random, found: Made) -> Iterator[Rows]:
    yield found.rows
    owned = units_of_rows(found.schema, found.rows)
    units = sorted({u for own in owned.values() for rows in own for u in rows}, key=repr)
    if units:
        yield without(found.rows, owned, frozenset({random.choice(units)}))
    yield {
        name: rows if isinstance(found.schema.tables[name].ownership, Public) else []
        for name, rows in found.rows.items()
    }


def _outcomes(
    found: Made, rows: Rows, folder: Path, statements: list[str]
) -> Iterator[tuple[str, str]]:
    """Why each statement isn't answered, "" if it is; and all that is spent by then."""
    folder.mkdir()
    path = folder / "schema.yaml"
    text = found.text.replace("epsilon: 8", "epsilon: 500, allow_large_epsilon: true")
    path.write_text(text.replace("dataset: generated", f"dataset: generated-{folder.name}"))
    with attached(folder / "generated.duckdb") as connection:
        create_tables(connection, found.schema, rows)
    with closing(Connection(Session(path, randomness=SeededRandomness("own")))) as asked:
        for sql in statements:
            fault = ""
            try:
                asked.execute(sql).fetchall()
            except Error as error:
                fault = f"{type(error).__name__}: {error}"
            yield fault, str(asked.budget)
