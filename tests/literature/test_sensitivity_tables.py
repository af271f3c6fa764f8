"""The founding documents' tables of sensitivities, as EXPLAIN PRIVACY gives them.

`d` rows are added or removed, which is d / 2 rows replaced: as many units differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.report.explanation.explanation import Explanation
from dpsql.session.session import Session

SCHEMA = """
dataset: tables
source: nowhere.duckdb
neighbors: {neighbors}
group_size: {units}
tables:
  people:
    unit: row
    {rows}
    columns:
      x: {{type: integer, bounds: [{low}, {high}], nullable: false}}
budget: {{epsilon: 1, accounting: pure}}
"""

SQL = "SELECT count(*), sum(x), avg(x), var_samp(x), var_pop(x) FROM people"

NAMES = ("count", "sum", "mean", "variance", "of_all")

Changes = Callable[..., dict[str, float | None]]

UNITS = (1, 2, 3, 4)


@pytest.fixture
def changes(tmp_path: Path) -> Changes:
    """What EXPLAIN says of each column, by name; `rows` where their number is public."""

    def explained(
        units: int, low: int, high: int, rows: int | None = None
    ) -> dict[str, float | None]:
        relation = "add_remove" if rows is None else "change_one"
        file = tmp_path / "schema.yaml"
        said = "" if rows is None else f"rows: {rows}"
        file.write_text(
            SCHEMA.format(neighbors=relation, units=units, rows=said, low=low, high=high)
        )
        session = Session(file)
        (release,) = json.loads(Explanation(session.explain(SQL)).json())["releases"]
        session.close()
        found = [column["change"] for column in release["changes"]]
        return dict(zip(NAMES, found, strict=True))

    return explained


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize(("low", "high"), [(6, 10), (0, 10), (-20, 5)])
def test_of_unknown_numbers_of_rows_counts_and_sums_have_bounds(
    changes: Changes, units: int, low: int, high: int
) -> None:
    found = changes(units, low, high)
    assert found["count"] == units
    # A mean or a variance moves as the data have it: EXPLAIN gives what it is computed from.
    assert found["mean"] is found["variance"] is None


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize(("low", "high", "most"), [(6, 10, 10), (0, 10, 10), (-20, 5, 20)])
def test_a_sum_moves_by_its_largest_value_for_each_row(
    tmp_path: Path, units: int, low: int, high: int, most: int
) -> None:
    file = tmp_path / "schema.yaml"
    file.write_text(SCHEMA.format(neighbors="add_remove", units=units, rows="", low=low, high=high))
    session = Session(file)
    text = str(Explanation(session.explain("SELECT sum(x) AS sum FROM people")))
    (change,) = json.loads(Explanation(session.explain("SELECT sum(x) AS s FROM people")).json())[
        "releases"
    ][0]["changes"]
    session.close()
    assert change["change"] == units * most
    assert f"x: {units * most} = " in text


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize(("low", "high", "rows"), [(6, 10, 10), (0, 10, 100), (-20, 5, 50)])
def test_of_known_numbers_of_rows_all_have(
    changes: Changes, units: int, low: int, high: int, rows: int
) -> None:
    found = changes(units, low, high, rows)
    width = Fraction(high - low)
    assert found["count"] == 0
    assert found["sum"] == units * width
    assert found["mean"] == pytest.approx(float(units * width / rows), rel=1e-12)
    assert found["variance"] == pytest.approx(float(units * width**2 / rows), rel=1e-12)
    of_all = units * width**2 * (rows - 1) / rows**2
    assert found["of_all"] == pytest.approx(float(of_all), rel=1e-12)


def test_the_printed_figures(changes: Changes) -> None:
    # [6, 10]: 10 and 4. A mean and variances of a hundred values in [0, 10]: 0.1, 1 and 0.99.
    assert changes(1, 6, 10, 10)["sum"] == 4
    found = changes(1, 0, 10, 100)
    assert found["mean"] == pytest.approx(0.1)
    assert (found["variance"], found["of_all"]) == pytest.approx((1, 0.99))


@pytest.mark.parametrize(
    ("low", "high", "rows", "removed", "replaced"),
    # school_year, absence_days, mood and driving
    [(1, 9, 6, 9, 8), (1, 20, 6, 20, 19), (1, 2, 4, 2, 1), (1, 3, 4, 3, 2)],
)
def test_the_empirical_tables_are_met(
    changes: Changes, low: int, high: int, rows: int, removed: int, replaced: int
) -> None:
    # An enumeration of databases found these largest changes of sums, for one unit; and of means,
    # and of driving's population variance, those of rows that are replaced.
    assert changes(1, low, high, rows)["sum"] == replaced == high - low
    assert removed == max(abs(low), abs(high))
    assert changes(1, low, high, rows)["mean"] == pytest.approx(replaced / rows)
    if (low, high) == (1, 3):
        assert changes(1, low, high, rows)["of_all"] == pytest.approx(0.75)
