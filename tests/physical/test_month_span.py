"""In how many months rows are, by the days that a statement compares them with."""

from __future__ import annotations

import pytest
from neighbor_search.sidecar import private, proved

from dpsql.bounding.options import AS_DECLARED
from dpsql.physical.strategy.count_units_first import CountUnitsFirst
from dpsql.physical.strategy.month_span import MonthSpan


def span(condition: str, *, ready: bool = True) -> MonthSpan | None:
    sql = f"""SELECT doctor_id, visit_date, count(DISTINCT patient_id), sum(cost) FROM visits
    WHERE {condition} GROUP BY 1, 2"""
    (release,) = proved(sql, "clinic", private("clinic"), AS_DECLARED, ready=ready).releases
    plans = [candidate.plan for candidate in release.choice.candidates]
    (found,) = [plan.span for plan in plans if isinstance(plan, CountUnitsFirst)]
    return found


@pytest.mark.parametrize(
    ("condition", "months"),
    [
        ("visit_date >= DATE '2024-01-31' AND visit_date < DATE '2024-03-01'", 2),
        ("visit_date > DATE '2024-01-31' AND visit_date <= DATE '2024-03-01'", 3),
        ("visit_date BETWEEN DATE '2023-12-31' AND DATE '2024-01-01' AND cost > 1", 2),
        ("visit_date = DATE '2024-02-01'", 1),
        ("visit_date >= DATE '2024-01-01' AND visit_date BETWEEN '2024-10-01' AND '2024-11-30'", 2),
    ],
)
def test_months_are_those_between_the_days_that_rows_are_compared_with(
    condition: str, months: int
) -> None:
    found = span(condition)
    assert found is not None
    assert found.months == months
    assert found.rows.name == "rows with month of visit_date"
    assert [found.month_limit(rows) for rows in (3, 12)] == [3 // months, 12 // months]


@pytest.mark.parametrize(
    "condition",
    [
        "visit_date < DATE '2024-02-01'",
        "visit_date >= DATE '2024-12-01'",
        "visit_date = DATE '2024-02-01' OR visit_date = DATE '2024-03-01'",
        "NOT (visit_date < DATE '2024-01-31' OR visit_date > DATE '2024-03-01')",
        "visit_date >= DATE '2024-03-01' AND visit_date < DATE '2024-01-31'",
        "visit_date + 1 >= DATE '2024-01-31' AND visit_date + 1 < DATE '2024-03-01'",
        "visit_date >= DATE '2024-01-01' AND visit_date < DATE '2024-05-01'",
    ],
    ids=["no first", "no last", "or", "not", "no day", "computed", "too many"],
)
def test_months_that_arent_told_or_too_many_have_no_span(condition: str) -> None:
    assert span(condition) is None


def test_rows_that_are_not_prepared_have_no_span() -> None:
    assert span("visit_date = DATE '2024-02-01'", ready=False) is None
