"""Rows that are grouped at once, by their unit where a limit may bind it, have the integers of all.

What one unit changes stays within what is derived, and the integers are those of telling all apart.
"""

from __future__ import annotations

import re

import pytest
from neighbor_search.share import in_turn
from neighbor_search.sidecar import LIMITS, attack, own_database, private, proved

from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.engine.duckdb.lockdown import configure
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN, UNIT_ROW_COUNT
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.physical.strategy.split_in_group_by import SplitInGroupBy
from dpsql.session.compile.compiled_release import CompiledRelease

JOINED = [
    """SELECT specialty, count(*), sum(cost), avg(cost) FROM visits v JOIN doctors d
    ON v.doctor_id = d.doctor_id GROUP BY 1""",
    """SELECT kind, sum(score), sum(CASE WHEN cost > 10 THEN score END) FROM tests
    JOIN visits USING (visit_id) GROUP BY 1""",
    """SELECT sum(cost), sum(cost) FILTER (WHERE specialty = 'surgery') FROM visits v
    JOIN doctors d ON v.doctor_id = d.doctor_id WHERE cost > 10""",
    # The visit that leads from a test to its patient isn't read.
    """SELECT sex, sum(score), count(*) FROM tests t JOIN visits v ON t.visit_id = v.visit_id
    JOIN patients p ON p.patient_id = v.patient_id WHERE score > 2 GROUP BY 1""",
]

ASKED = [
    """SELECT ward, count(*), sum(cost) FROM visits v
    WHERE EXISTS (SELECT 1 FROM tests t WHERE t.visit_id = v.visit_id) GROUP BY 1""",
    """SELECT ward, sum(cost - 3) FROM visits v
    WHERE NOT EXISTS (SELECT 1 FROM tests t WHERE t.visit_id = v.visit_id AND t.score > 2)
    GROUP BY 1""",
    # Whoever is asked for is read in the order of units.
    """SELECT sex, count(*), sum(age) FROM patients p
    WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 10)
    GROUP BY 1""",
    # Whom a row meets is asked of all rows of its unit, of which the limit leaves out none.
    """SELECT ward, count(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w
    WHERE w.patient_id = v.patient_id AND w.cost > v.cost) GROUP BY 1""",
    """WITH a AS (SELECT * FROM visits WHERE cost > 5) SELECT ward, count(*), sum(cost) FROM a
    WHERE EXISTS (SELECT 1 FROM a b WHERE b.patient_id = a.patient_id AND b.cost > a.cost)
    GROUP BY 1""",
]

ASKED_TWICE = """SELECT ward, count(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w
    WHERE w.patient_id = v.patient_id AND w.cost > v.cost) AND NOT EXISTS (SELECT 1 FROM tests t
    WHERE t.visit_id = v.visit_id AND t.score > 2) GROUP BY 1"""

BESIDE_A_TOTAL = (
    "SELECT count(*), sum(cost) FROM visits v WHERE cost > (SELECT avg(cost) FROM visits)"
)
IS_TESTED = "NOT EXISTS (SELECT 1 FROM tests t WHERE t.visit_id = v.visit_id AND t.score > 2)"

ALSO_DRAWN = ContributionLimits(groups=3, rows_per_group=1)


def _released(sql: str, limits: ContributionLimits = AS_DECLARED) -> CompiledRelease:
    (release,) = proved(sql, "clinic", private("clinic"), limits, ready=True).releases
    return release


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("sql", "limits"),
    in_turn(  # seven limits: every run tries each of them, and each statement
        (
            (f"sql{number}-{name}", (sql, limits))
            for number, sql in enumerate([*JOINED, *ASKED, ASKED_TWICE])
            for name, limits in {**LIMITS, "drawn": ALSO_DRAWN}.items()
        ),
        share=5,
    ),
)
def test_one_unit_changes_no_more_than_derived(sql: str, limits: ContributionLimits) -> None:
    attack(sql, "clinic", limits, databases=4)


@pytest.mark.parametrize("sql", [*JOINED, *ASKED])
def test_rows_that_are_joined_or_asked_are_read_once(sql: str) -> None:
    plan = _released(sql, ContributionLimits(groups=8, rows_per_group=2)).choice.plan
    assert isinstance(plan, SplitInGroupBy)
    assert plan.note.endswith(": summed in no unit") or "isn't read" in plan.note


@pytest.mark.parametrize("limits", [AS_DECLARED, LIMITS["few"]], ids=["declared", "few"])
@pytest.mark.parametrize("sql", [BESIDE_A_TOTAL, f"{BESIDE_A_TOTAL} AND {IS_TESTED}"])
def test_rows_beside_a_released_total_are_told_apart(sql: str, limits: ContributionLimits) -> None:
    ready, as_it_is = (
        proved(sql, "clinic", private("clinic"), limits, ready=is_ready).releases[-1]
        for is_ready in (True, False)
    )
    assert isinstance(ready.choice.plan, SplitByContribution | SplitInGroupBy)
    queries = [one.step.query for one in (ready, as_it_is)]
    total = {name for q in queries for name in re.findall(r"(c\d+) FROM release_0", q.sql)}
    columns = ", ".join(f"-0.005 AS {name}" for name in total)
    found = []
    for world in range(6):
        with own_database("clinic", private("clinic"), world) as connection:
            connection.execute(f"CREATE TABLE release_0 AS SELECT {columns}")
            sums = [connection.execute(q.sql, ["1"] * q.salted).fetchall() for q in queries]
        assert sums[0] == sums[1]
        found += sums[0]
    assert len(set(found)) > 1


def test_numbers_that_are_each_within_a_limit_are_not_read() -> None:
    sql = "SELECT sum(cost), count(specialty) FROM visits JOIN doctors USING (doctor_id)"
    query = _released(sql).step.query
    with own_database("clinic", private("clinic"), 0) as connection:
        configure(connection, own_statistics=True)
        shown = str(connection.execute(f"EXPLAIN {query.sql}").fetchall())
    assert UNIT_COLUMN in shown
    assert UNIT_ROW_COUNT not in shown


@pytest.mark.parametrize(
    "sql",
    [
        """SELECT ward, count(DISTINCT patient_id) FROM visits JOIN tests USING (visit_id)
        GROUP BY 1""",
        f"SELECT ward, count(DISTINCT v.patient_id) {ASKED[0].partition('cost)')[2]}",
        "SELECT ward, median(cost) FROM visits JOIN doctors USING (doctor_id) GROUP BY 1",
        "SELECT ward, sum(score) FROM visits LEFT JOIN tests USING (visit_id) GROUP BY 1",
    ],
    ids=["units", "units that are asked", "a choice", "looked up"],
)
def test_where_more_than_sums_of_its_rows_is_asked_it_does_not_apply(sql: str) -> None:
    for one in proved(sql, "clinic", private("clinic"), AS_DECLARED, ready=True).releases:
        assert not any(isinstance(c.plan, SplitInGroupBy) for c in one.choice.candidates)
