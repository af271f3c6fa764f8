"""What is summed before a join gives the integers that are found after it, whatever keys hold."""

from __future__ import annotations

import pytest
from neighbor_search.search import search
from notes.compiler import prepared
from physical.strategies import by_strategy

from dpsql.bounding.options import ContributionLimits
from dpsql.physical.strategy.aggregate_below_join import AggregateBelowJoin
from dpsql.physical.strategy.per_unit import PerUnit

STATEMENTS = [
    "SELECT count(*), sum(cost) FROM patients JOIN visits USING (patient_id)",
    "SELECT sex, count(*), avg(cost) FROM patients JOIN visits USING (patient_id) GROUP BY sex",
    """SELECT city, count(cost), var_pop(cost) FROM visits JOIN patients USING (patient_id)
    GROUP BY 1""",
    """SELECT sex, count(*) FILTER (WHERE cost > 30), count(DISTINCT doctor_id)
    FROM patients JOIN visits USING (patient_id) GROUP BY 1""",
    """SELECT sex, count(DISTINCT patient_id), count(*) FROM patients JOIN visits USING (patient_id)
    WHERE cost > 10 AND ward = 'ER' GROUP BY 1""",
    """SELECT p.city, q.sex, count(*), sum(cost) FROM visits JOIN patients p USING (patient_id)
    JOIN patients q ON p.patient_id = q.patient_id GROUP BY 1, 2""",
]

LIMITS = [ContributionLimits(), ContributionLimits(groups=1, rows_per_group=2)]


@pytest.mark.parametrize("verified", [frozenset[str](), frozenset({"patients"})], ids=len)
@pytest.mark.parametrize("limits", LIMITS, ids=["declared", "narrow"])
@pytest.mark.parametrize("sql", STATEMENTS)
def test_the_integers_are_those_of_joined_rows(
    sql: str, limits: ContributionLimits, verified: frozenset[str]
) -> None:
    (release,) = prepared(sql, "clinic", verified, limits=limits).releases
    assert isinstance(release.choice.plan, AggregateBelowJoin)
    worlds = search("clinic", verified, databases=24).worlds
    found = worlds.totals(release, "1")
    assert found == worlds.totals(by_strategy(release, PerUnit), "1")
    assert any(found)


def test_a_key_that_is_only_declared_does_not_say_that_sums_meet_one_row() -> None:
    for verified in (frozenset[str](), frozenset({"patients"})):
        (release,) = prepared(STATEMENTS[1], "clinic", verified).releases
        plan = release.choice.plan
        assert isinstance(plan, AggregateBelowJoin)
        assert plan.is_n_to_one == bool(verified)
