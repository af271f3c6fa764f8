"""Months of days by which a sidecar counts rows: which keys they are, and which they aren't."""

from __future__ import annotations

import pytest
from data.database import attached
from emit.test_month_cell import DAYS
from neighbor_search.sidecar import LIMITS, has_stored_ranks, private, proved
from notes.compiler import schema_of

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.nodes import scalar
from dpsql.emit.sql.identifier import column_name
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.plan.expression import Call, Column, Literal
from dpsql.schema.sidecar_columns import month_count_columns
from dpsql.schema.sql_type import Date, Timestamp, Varchar
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.sidecar import sidecar_tables
from dpsql.structs import replace


def release(sql: str) -> CompiledRelease:
    (found,) = proved(sql, "clinic", private("clinic"), LIMITS["narrow"], ready=True).releases
    return found


def test_a_units_months_are_chosen_by_stored_ranks() -> None:
    found = release("SELECT date_trunc('month', visit_date), sum(cost) FROM visits GROUP BY 1")
    assert has_stored_ranks(found)
    assert isinstance(found.choice.plan, SplitByContribution)
    assert "place of month of visit_date <= 2" in found.choice.plan.note


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT date_trunc('quarter', visit_date), sum(cost) FROM visits GROUP BY 1",
        "SELECT date_trunc('month', visit_date), sum(cost) FROM visits WHERE cost > 1 GROUP BY 1",
        "SELECT date_trunc('month', visit_date), ward, sum(cost) FROM visits GROUP BY 1, 2",
        "SELECT date_trunc('month', visit_date + 1), sum(cost) FROM visits GROUP BY 1",
    ],
)
def test_other_groups_than_all_of_a_units_months_are_not(sql: str) -> None:
    assert not has_stored_ranks(release(sql))


def test_the_months_of_a_file_are_the_keys_of_statements() -> None:
    tables = sidecar_tables(schema_of("clinic"), private("clinic"))
    (((name, month),),) = (table.months for table in tables if table.name == "visits")
    assert name == "month of visit_date"
    day = Column(0, "day", Date())
    key = rendered(scalar(Call("date_trunc", (Literal("month", Varchar()), day), Timestamp())))
    with attached() as connection:
        connection.execute(
            f"CREATE TABLE days AS SELECT d AS visit_date, d AS {column_name(day)}"
            f" FROM (SELECT unnest([{DAYS}])::DATE AS d)"
        )
        select = f"SELECT count(DISTINCT {key}), bool_and({month} IS NOT DISTINCT FROM {key})"
        assert connection.execute(f"{select} FROM days").fetchall() == [(11, True)]


def test_months_that_have_the_name_of_a_column_are_not_counted() -> None:
    visits = schema_of("clinic").tables["visits"]
    assert month_count_columns(visits) == ("visit_date",)
    taken = replace(visits.columns["ward"], name="Month of visit_date")
    columns = {**visits.columns, taken.name: taken}
    assert month_count_columns(replace(visits, columns=columns)) == ()
    unbounded = replace(visits.columns["visit_date"], bounds=None)
    columns = {**visits.columns, "visit_date": unbounded}
    assert month_count_columns(replace(visits, columns=columns)) == ()
