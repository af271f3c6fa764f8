"""Of public tables above the releases only the rows are copied that filters leave at once."""

from __future__ import annotations

import pytest
from neighbor_search.public_rows import public_connection
from notes.compiler import prepared

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.session.run.finishing.public_tables import public_inputs, public_scans

BY_DOCTOR = "(SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id)"


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (f"SELECT specialty, n FROM doctors JOIN {BY_DOCTOR} USING (doctor_id)", {"doctors": 4}),
        (
            f"""SELECT specialty, n FROM (SELECT * FROM doctors WHERE region_id = 1)
            JOIN {BY_DOCTOR} USING (doctor_id)""",
            {"doctors": 2},
        ),
        (
            f"""SELECT specialty, n FROM (SELECT * FROM doctors WHERE region_id IN
            (SELECT region_id FROM regions WHERE region_name = 'south'))
            JOIN {BY_DOCTOR} USING (doctor_id)""",
            {"doctors": 1, "regions": 1},
        ),
        # Other rows of it are read for the second time.
        (
            f"""SELECT specialty, n FROM (SELECT * FROM doctors WHERE region_id = 1)
            JOIN {BY_DOCTOR} USING (doctor_id)
            WHERE specialty IN (SELECT specialty FROM doctors)""",
            {"doctors": 4},
        ),
        # Which rows are left, only the release tells.
        (
            f"""SELECT specialty FROM doctors
            WHERE doctor_id IN (SELECT doctor_id FROM {BY_DOCTOR} WHERE n > 2)""",
            {"doctors": 4},
        ),
    ],
    ids=["all", "a condition", "other tables", "twice", "released"],
)
def test_rows_that_are_filtered_away_at_once_are_not_copied(sql: str, rows: dict[str, int]) -> None:
    plan = prepared(sql, "clinic", frozenset({"patients", "visits", "doctors"})).plan
    connection, found = public_connection("clinic"), public_inputs(plan)
    copied = {
        name: len(connection.execute(rendered(emit_plan(each, {}))).fetchall())
        for name, each in found.items()
    }
    assert copied == rows
    assert public_scans(plan).keys() == found.keys()


def test_no_row_of_a_private_table_is_copied() -> None:
    plan = prepared("SELECT count(*) FROM visits WHERE cost > 5", "clinic", frozenset()).plan
    assert public_inputs(plan) == {}
