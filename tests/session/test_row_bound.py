"""No plan has more rows than its bound says, and joins by keys have no more than the rows joined.

Nothing but memory rests on the bound: what has few rows by it is computed before any is handed out.
"""

from __future__ import annotations

from itertools import product

import pytest
from neighbor_search.public_rows import PUBLIC, public_connection
from notes.compiler import prepared, schema_of

from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.bind.statement import bind
from dpsql.plan.operator import PublicStatement, Release, Scan
from dpsql.session.run.finishing.row_bound import Leaf, row_bound

SHAPES = [
    "doctors d",
    "(SELECT * FROM doctors WHERE doctor_id > 1) d",
    "(SELECT * FROM doctors ORDER BY specialty LIMIT 2 OFFSET 1) d",
    "(SELECT * FROM doctors UNION ALL SELECT * FROM doctors) d",
    "(SELECT * FROM doctors UNION SELECT * FROM doctors WHERE doctor_id = 1) d",
    "(SELECT * FROM doctors EXCEPT SELECT * FROM doctors WHERE doctor_id = 1) d",
    "(SELECT region_id, max(specialty) AS specialty FROM doctors GROUP BY region_id) d",
    "(SELECT max(region_id) AS region_id, 'eye' AS specialty FROM doctors) d",
    "(SELECT max(region_id) AS region_id, 'x' AS specialty FROM doctors WHERE doctor_id > 9) d",
    "(SELECT *, row_number() OVER (ORDER BY doctor_id) FROM doctors) d",
    "(VALUES (1, 'eye'), (1, 'surgery'), (NULL, 'general')) AS d(region_id, specialty)",
    "(SELECT * FROM doctors WHERE region_id IN (SELECT region_id FROM regions)) d",
]
JOINS = [
    "{}",
    "{} JOIN regions r ON d.region_id = r.region_id",
    "regions r JOIN {} ON d.region_id = r.region_id",
    "{} LEFT JOIN regions r ON d.region_id = r.region_id",
    "regions r LEFT JOIN {} ON d.region_id = r.region_id",
    "{} FULL JOIN regions r ON d.region_id = r.region_id",
    "{} FULL JOIN regions r ON d.region_id = r.region_id + 7",
    "{} CROSS JOIN regions r",
    "{} JOIN regions r ON d.region_id >= r.region_id",
    "{} JOIN doctors e ON d.specialty = e.specialty",
    "{} JOIN doctors e ON d.specialty = e.specialty JOIN regions r ON e.region_id = r.region_id",
    "{} LEFT JOIN (SELECT max(region_id) AS m FROM regions) r ON TRUE",
    "{} LEFT JOIN (SELECT region_id FROM regions WHERE region_id % 5 = 4) r ON TRUE",
]
BY_KEYS = {
    "SELECT count(*) FROM doctors": 1,
    "SELECT * FROM doctors JOIN regions USING (region_id)": 4,
    "SELECT * FROM regions JOIN doctors USING (region_id)": 4,
    "SELECT * FROM doctors d LEFT JOIN regions r ON d.region_id = r.region_id": 4,
    "SELECT * FROM doctors d FULL JOIN regions r ON d.region_id = r.region_id": 6,
    "SELECT * FROM doctors JOIN doctors e USING (doctor_id), regions r"
    " WHERE r.region_id = e.region_id": 4,
    "SELECT * FROM doctors d, regions r WHERE d.region_id = r.region_id": 4,
    "SELECT * FROM doctors, regions": 8,
    "SELECT * FROM doctors d JOIN regions r ON d.region_id > r.region_id": 8,
    "SELECT * FROM doctors LIMIT 3": 3,
}


def rows_of(leaf: Leaf) -> int:
    assert isinstance(leaf, Scan)
    return len(PUBLIC["clinic"][leaf.table.name])


@pytest.mark.parametrize("join", JOINS)
def test_no_plan_has_more_rows_than_its_bound(join: str) -> None:
    schema = schema_of("clinic")
    facts = WorldFacts(schema, public_connection("clinic"), frozenset())
    for shape, limit in product(SHAPES, ("", " LIMIT 3")):
        sql = f"SELECT * FROM {join.format(shape)}{limit}"
        plan = bind(sql, schema).plan
        rows = facts.rows(plan, 1_000)
        assert rows is not None, sql
        assert len(rows) <= row_bound(plan, rows_of), sql


@pytest.mark.parametrize(("sql", "rows"), BY_KEYS.items())
def test_who_meets_one_row_of_a_key_is_counted_once(sql: str, rows: int) -> None:
    plan = bind(sql, schema_of("clinic")).plan
    assert row_bound(plan, rows_of) == rows


def test_released_rows_are_as_many_as_their_table_has_and_keys_are_theirs() -> None:
    sql = (
        "SELECT r.region_name, n FROM regions r JOIN (SELECT region_id, count(*) AS n FROM visits"
        " JOIN doctors USING (doctor_id) GROUP BY region_id) c ON r.region_id = c.region_id"
    )
    plan = prepared(sql, "clinic", frozenset()).plan

    def rows(leaf: Leaf) -> int:
        assert not isinstance(leaf, PublicStatement)
        return 7 if isinstance(leaf, Release) else 1_000

    assert row_bound(plan, rows) == 7
