"""The cell of a day's month, by its number: the cell that a join would find."""

from __future__ import annotations

import datetime as dt

import pytest
from data.database import attached

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.nodes import scalar
from dpsql.emit.release.cell.month_cell import month_cell
from dpsql.emit.sql.identifier import column_name
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.bounded_release.engine_query import DomainTable
from dpsql.plan.expression import Call, Column, Literal
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.sql_type import Date, SqlType, Timestamp, Varchar

DAYS = """'infinity', '-infinity', NULL, '1994-12-31', '1995-01-01', '1995-01-31', '1995-02-01',
'1996-02-29', '1997-12-31', '1998-01-01', '1999-01-01', '0001-01-01', '0001-12-31 (BC)',
'290309-12-22 (BC)', '5877642-06-25 (BC)', '5881580-07-10'"""

UNITS = {"month": 1, "quarter": 3, "year": 12}


def _key(unit: str, kind: SqlType | None = None) -> Call:
    day = Column(0, "day", kind or Date())
    return Call("date_trunc", (Literal(unit, Varchar()), day), Timestamp())


def _moments(unit: str) -> list[Cell]:
    months = range(12 * 1995, 12 * 1998, UNITS[unit])
    return [(dt.datetime(m // 12, m % 12 + 1, 1),) for m in months]  # noqa: DTZ001


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("null", ["none", "first", "last"])
def test_a_day_is_in_the_cell_of_its_month_or_in_none(unit: str, null: str) -> None:
    cells = [*[(None,)] * (null == "first"), *_moments(unit), *[(None,)] * (null == "last")]
    counted = month_cell(_key(unit), cells)
    assert counted is not None
    key = _key(unit)
    day = column_name(Column(0, "day", Date()))
    with attached() as connection:
        connection.execute(f"CREATE TABLE days AS SELECT unnest([{DAYS}])::DATE AS {day}")
        connection.register("cells", domain_table(DomainTable("cells", (key.type,), tuple(cells))))
        sql = f"SELECT {rendered(counted)} FROM days ORDER BY {day}"
        joined = f"""SELECT cell FROM days LEFT JOIN cells
            ON {rendered(scalar(key))} IS NOT DISTINCT FROM k0 ORDER BY {day}"""
        found = connection.execute(sql).fetchall()
        assert found == connection.execute(joined).fetchall()
    assert len(set(found)) > 3


def test_cells_that_are_not_all_between_two_are_looked_up() -> None:
    months = _moments("month")
    assert month_cell(_key("month"), months) is not None
    for cells in (
        [],
        [(None,)],
        months[:2] + months[3:],
        months[::-1],
        [*months[:2], (None,), *months[2:]],
        [(dt.datetime(1995, 1, 2),)],  # noqa: DTZ001
        [(dt.datetime(1995, 1, 1, 1),)],  # noqa: DTZ001
    ):
        assert month_cell(_key("month"), cells) is None
    assert month_cell(_key("day"), months) is None
    assert month_cell(_key("month", Timestamp()), months) is None
    assert month_cell(_key("quarter"), [(dt.datetime(1995, 2, 1),)]) is None  # noqa: DTZ001
    assert month_cell(_key("year"), [(dt.datetime(1995, 2, 1),)]) is None  # noqa: DTZ001
