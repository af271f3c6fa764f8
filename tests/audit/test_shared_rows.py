"""Rows that several units share by a key that repeats: what one unit changes, and what they all do.

Who leaves takes the rows that are theirs alone. Those that others share stay, and no other unit has
one row more or less. Without a shared row itself, all of its units change.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from data.database import attached
from neighbor_search.public_rows import PUBLIC, create_tables
from neighbor_search.share import in_turn
from notes.compiler import prepared, schema_of
from notes.exact import raw_groups

from dpsql.audit.databases.random_databases import neighboring_databases
from dpsql.audit.databases.unit_ownership import Rows, Unit, units_of_rows, without
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.engine.duckdb.lockdown import configure as fix_meaning
from dpsql.plan.expression import Column
from dpsql.plan.operator import Scan
from dpsql.schema.model import EntityUnit
from dpsql.schema.sql_type import BIGINT

OVER_HOPS = [
    (name, table.name)
    for name in ("clinic", "works", "tpch", "parcels")
    for table in schema_of(name).tables.values()
    if isinstance(table.ownership, EntityUnit) and table.ownership.hops
]


@pytest.mark.parametrize(
    ("name", "table"), in_turn(((f"{name}-{table}", (name, table)) for name, table in OVER_HOPS), 3)
)
def test_no_other_units_rows_change(name: str, table: str) -> None:
    schema, random, shared = schema_of(name), Random(f"shared rows of {table}"), 0
    for number in range(60):
        # A key of several columns repeats in few databases.
        if number >= 5 and shared:
            break
        for pair in neighboring_databases(schema, PUBLIC[name], random, frozenset()):
            full, less = (scanned(name, table, rows) for rows in (pair.full, pair.pair[1]))
            (gone,) = pair.lacks[1]
            assert less == Counter({row: n for row, n in full.items() if row[-1] != gone[1]})
            shared += any(len(own) > 1 for own in units_of_rows(schema, pair.full)[table])
    assert shared


def scanned(name: str, table: str, rows: Rows) -> Counter[tuple[object, ...]]:
    """Each row with each of its units, as often as it comes."""
    schema = schema_of(name)
    read = schema.tables[table].columns.values()
    found = tuple(Column(number, c.name, c.type) for number, c in enumerate(read, start=1))
    scan = Scan(schema.tables[table], found, Column(0, "unit", BIGINT))
    shown = [*(f"CAST(c{column.id} AS VARCHAR)" for column in found), "c0"]
    sql = f"SELECT {', '.join(shown)} FROM ({rendered(emit_plan(scan, {}))})"
    with attached() as connection:
        fix_meaning(connection)
        create_tables(connection, schema, rows)
        return Counter(connection.execute(sql).fetchall())


ASKED = "SELECT count(*), sum(score) FROM tests WHERE kind = 'scan'"

PATIENTS = (1, 2, 3)

SHARED: Rows = {
    **PUBLIC["clinic"],
    "patients": [(own, 40, "F", 60.0, True, "x") for own in PATIENTS],
    # One number of three visits, of a patient each.
    "visits": [(5, own, 1, "2024-01-01", "10.00", "ER") for own in PATIENTS],
    "tests": [(n, 5, "scan", 5) for n in range(9)],
    "readings": [],
}


def test_who_leaves_changes_no_more_than_derived_and_a_shared_row_all_that_share_it() -> None:
    schema = schema_of("clinic")
    found = units_of_rows(schema, SHARED)
    everybody = frozenset[Unit](("patient", own) for own in PATIENTS)
    assert set(found["tests"]) == {everybody}
    (release,) = prepared(ASKED, "clinic", frozenset()).releases
    derived = release.sensitivity.per_group
    assert derived == (6, 30)
    full = totals(SHARED)
    # Each of the three counts for as many rows as one may.
    assert full == (18, 90)
    for patient in PATIENTS:
        less = totals(without(SHARED, found, frozenset({("patient", patient)})))
        assert tuple(a - b for a, b in zip(full, less, strict=True)) == derived
    nothing = totals({**SHARED, "tests": []})
    changed = tuple(a - b for a, b in zip(full, nothing, strict=True))
    assert changed == tuple(len(PATIENTS) * most for most in derived)


def totals(rows: Rows) -> tuple[int, ...]:
    (release,) = prepared(ASKED, "clinic", frozenset()).releases
    with attached() as connection:
        fix_meaning(connection)
        create_tables(connection, schema_of("clinic"), rows)
        (row,) = raw_groups(connection, release, "1").totals.to_pylist()
    return tuple(int(value) for value in row.values())
