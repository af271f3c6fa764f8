"""Of public tables above the releases the largest parts are copied that no release decides."""

from __future__ import annotations

import pytest
from neighbor_search.public_rows import public_connection
from notes.compiler import prepared

from dpsql.plan.output_columns import output_columns
from dpsql.session.run.finishing.public_tables import CopiedPart, copied_plan

BY_DOCTOR = "(SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id)"


def copies(sql: str) -> tuple[CopiedPart, ...]:
    ready = prepared(sql, "clinic", frozenset({"patients", "visits", "doctors"}))
    return copied_plan(ready.plan).copies


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (f"SELECT specialty, n FROM doctors JOIN {BY_DOCTOR} USING (doctor_id)", [4]),
        (
            f"""SELECT specialty, n FROM (SELECT * FROM doctors WHERE region_id = 1)
            JOIN {BY_DOCTOR} USING (doctor_id)""",
            [2],
        ),
        (
            f"""SELECT specialty, n FROM (SELECT * FROM doctors WHERE region_id IN
            (SELECT region_id FROM regions WHERE region_name = 'south'))
            JOIN {BY_DOCTOR} USING (doctor_id)""",
            [1],
        ),
        # Other rows of it are read for the second time.
        (
            f"""SELECT specialty, n FROM (SELECT * FROM doctors WHERE region_id = 1)
            JOIN {BY_DOCTOR} USING (doctor_id)
            WHERE specialty IN (SELECT specialty FROM doctors)""",
            [2, 4],
        ),
        # Which rows are left, only the release tells.
        (
            f"""SELECT specialty FROM doctors
            WHERE doctor_id IN (SELECT doctor_id FROM {BY_DOCTOR} WHERE n > 2)""",
            [4],
        ),
        (
            f"""SELECT specialty FROM doctors JOIN regions USING (region_id)
            WHERE region_name = 'north'
            AND doctor_id IN (SELECT doctor_id FROM {BY_DOCTOR} WHERE n > 2)""",
            [2],
        ),
        # All pairs would be more than the tables have.
        (
            f"""SELECT specialty, region_name FROM doctors, regions
            WHERE doctor_id IN (SELECT doctor_id FROM {BY_DOCTOR} WHERE n > 2)""",
            [4, 2],
        ),
    ],
    ids=["all", "a condition", "other tables", "twice", "released", "joined", "all pairs"],
)
def test_rows_that_are_left_out_without_a_release_are_not_copied(sql: str, rows: list[int]) -> None:
    connection = public_connection("clinic")
    assert [len(connection.execute(each.sql).fetchall()) for each in copies(sql)] == rows


def test_columns_that_nothing_above_reads_are_not_copied() -> None:
    (copy,) = copies(
        f"""SELECT specialty FROM doctors JOIN regions USING (region_id)
        WHERE region_name = 'north'
        AND doctor_id IN (SELECT doctor_id FROM {BY_DOCTOR} WHERE n > 2)"""
    )
    assert [column.name for column in output_columns(copy.rows)] == ["doctor_id", "specialty"]


def test_no_row_of_a_private_table_is_copied() -> None:
    assert copies("SELECT count(*) FROM visits WHERE cost > 5") == ()
