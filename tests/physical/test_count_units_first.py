"""Units of few rows, told from others by counting, give the integers of telling all units apart."""

from __future__ import annotations

import pytest
from neighbor_search.search import search
from notes.compiler import prepared
from physical.strategies import by_plan, by_strategy

from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.physical.strategy.count_units_first import CountUnitsFirst
from dpsql.physical.strategy.per_unit import PerUnit
from dpsql.structs import replace

STATEMENTS = [
    "SELECT visit_date, count(*), sum(cost) FROM visits WHERE ward = 'ER' GROUP BY 1",
    """SELECT visit_date, avg(cost), var_pop(cost), count(cost) FILTER (WHERE doctor_id > 1)
    FROM visits WHERE ward IN ('ER') GROUP BY 1""",
    """SELECT visit_date, kind, corr(score, cost) FROM tests JOIN visits USING (visit_id)
    WHERE ward = 'GP' GROUP BY 1, 2""",
    """SELECT extract(doy FROM visit_date), sex, sum(cost * 2 - age) FROM visits
    JOIN patients USING (patient_id) WHERE cost BETWEEN 450 AND 550 GROUP BY 1, 2""",
    """SELECT visit_date, count(*) FROM visits WHERE doctor_id IN (SELECT doctor_id FROM doctors
    WHERE specialty IS NOT NULL) GROUP BY 1""",
    "SELECT visit_date, count(*) FROM visits WHERE extract(month FROM visit_date) = 1 GROUP BY 1",
    "SELECT doctor_id + 1, count(*), sum(cost) FROM visits WHERE ward = 'ER' GROUP BY 1",
    """SELECT visit_date, concat(ward, doctor_id), avg(cost) FROM visits WHERE cost <= 300
    GROUP BY 1, 2""",
    # Each unit's rows are one of the statement's own groups.
    "SELECT n, count(*) FROM (SELECT patient_id, count(*) AS n FROM visits GROUP BY 1) GROUP BY 1",
    """SELECT least(n, 3), sum(n) FROM (SELECT p.patient_id, count(v.visit_id) AS n FROM patients p
    LEFT JOIN visits v ON p.patient_id = v.patient_id GROUP BY 1) GROUP BY 1""",
]

LIMITS = [
    AS_DECLARED,
    ContributionLimits(groups=2, rows_per_group=3, rows=4),
    ContributionLimits(groups=3, rows_per_group=2, rows=3),
]


@pytest.mark.parametrize("limits", LIMITS, ids=["declared", "groups", "rows"])
@pytest.mark.parametrize("sql", STATEMENTS)
def test_the_integers_are_those_of_all_units_told_apart(
    sql: str, limits: ContributionLimits
) -> None:
    (release,) = prepared(sql, "clinic", frozenset(), limits=limits).releases
    counted = release.choice.plan
    assert isinstance(counted, CountUnitsFirst)
    worlds = search("clinic", frozenset(), databases=24).worlds
    told_apart = worlds.totals(by_strategy(release, PerUnit), "1")
    for few in range(counted.max_rows + 1):
        plan = replace(counted, max_rows=few)
        assert worlds.totals(by_plan(release, plan), "1") == told_apart
    assert any(told_apart)


def test_few_are_so_many_that_no_limit_can_bind() -> None:
    sql = "SELECT visit_date, count(*) FROM visits WHERE ward = 'ER' GROUP BY 1"
    for groups, rows_per_group, rows in [(2, 3, 9), (4, 2, 9), (4, 3, 2), (2, 2, 2)]:
        limits = ContributionLimits(groups=groups, rows_per_group=rows_per_group, rows=rows)
        (release,) = prepared(sql, "clinic", frozenset(), limits=limits).releases
        assert isinstance(release.choice.plan, CountUnitsFirst)
        assert release.choice.plan.max_rows == min(groups, rows_per_group, rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT visit_date, count(*) FROM visits GROUP BY 1",
        "SELECT visit_date, count(*) FROM visits WHERE cost > 10 GROUP BY 1",
        "SELECT visit_date, count(DISTINCT ward) FROM visits WHERE ward = 'ER' GROUP BY 1",
        "SELECT visit_date, median(cost) FROM visits WHERE ward = 'ER' GROUP BY 1",
        "SELECT ward, count(*) FROM visits WHERE cost < 10 GROUP BY 1",
        "SELECT visit_date, count(*) FROM visits WHERE ward = 'none' GROUP BY 1",
    ],
    ids=["all rows", "most rows", "values", "a choice", "few groups", "no row"],
)
def test_where_units_have_many_rows_or_more_is_asked_they_are_told_apart(sql: str) -> None:
    for release in prepared(sql, "clinic", frozenset()).releases:
        assert not isinstance(release.choice.plan, CountUnitsFirst)
