"""The neighbour search over sidecars: each database has one of its own, all made with one salt.

Every query that a note accepts and that is summed in two parts: what one unit changes stays within
what is derived without a sidecar, and the integers are the very ones that are found without.
"""

from __future__ import annotations

import pytest
from neighbor_search.share import in_turn
from neighbor_search.sidecar import LIMITS, attack, is_split, private, proved
from notes.blocks import Claim, accepted

from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.physical.strategy.count_units_first import CountUnitsFirst
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.physical.strategy.stored_unit_sums import StoredUnitSums

pytestmark = pytest.mark.bounds

LONE_ROWS = [
    """SELECT doctor_id, visit_date, count(DISTINCT patient_id), sum(cost) FROM visits
    WHERE ward = 'ER' GROUP BY 1, 2""",
    """SELECT doctor_id, city, count(DISTINCT patient_id), count(*), sum(cost) FROM visits
    JOIN patients USING (patient_id) WHERE cost <= 500 AND doctor_id IN (1, 2, 3) GROUP BY 1, 2""",
    """SELECT doctor_id, ward, count(DISTINCT patient_id), avg(cost) FROM visits
    WHERE visit_date <= DATE '2024-03-01' GROUP BY 1, 2""",
    """SELECT doctor_id, ward, count(DISTINCT patient_id), sum(cost) FROM visits
    WHERE visit_date >= DATE '2024-02-01' AND visit_date < DATE '2024-04-01' GROUP BY 1, 2""",
]
"""A row that is its patient's only one of a doctor counts for the patient, whatever is asked."""

COUNTS = [
    "SELECT count(*) FROM visits",
    "SELECT count(*), count(DISTINCT patient_id) FROM tests JOIN visits USING (visit_id)",
    """SELECT sex, count(*), count(*) FILTER (WHERE age > 40), count(DISTINCT patient_id)
    FROM visits JOIN patients USING (patient_id) GROUP BY 1""",
    "SELECT city, count(*) FROM visits JOIN patients USING (patient_id) WHERE age > 30 GROUP BY 1",
]
"""A unit's rows, all in one group, are counted by how many it has."""

SHAPES = [
    "SELECT ward, count(*), sum(cost), avg(cost) FROM visits GROUP BY 1",
    "SELECT ward, count(*), sum(cost) FROM visits WHERE cost > 10 GROUP BY 1",
    "SELECT ward, doctor_id, sum(cost) FROM visits GROUP BY 1, 2",
    "SELECT ward, sum(cost), sum(cost * 2 - 1), sum(cost * cost), count(*) FROM visits GROUP BY 1",
    "SELECT ward, sum(cost), sum(2 - cost), var_pop(cost) FROM visits GROUP BY 1",
    "SELECT sum(cost), sum(cost + 1) FILTER (WHERE ward = 'ER') FROM visits",
    "SELECT kind, sum(score), avg(score * score), sum(3 - score) FROM tests GROUP BY 1",
    """SELECT sex, sum(c), sum(c + 1)
    FROM (SELECT patient_id, cost AS c FROM visits) JOIN patients USING (patient_id) GROUP BY 1""",
    "SELECT doctor_id, count(*) FROM visits GROUP BY 1",
    "SELECT doctor_id, count(*) FROM visits WHERE cost > 10 GROUP BY 1",
    "SELECT doctor_id, count(DISTINCT patient_id), count(*) FROM visits GROUP BY 1",
    "SELECT doctor_id, count(DISTINCT ward), count(*) FROM visits GROUP BY 1",
    "SELECT month(visit_date), sum(cost) FROM visits GROUP BY 1",
    "SELECT date_trunc('month', visit_date), sum(cost), count(*) FROM visits GROUP BY 1",
    """SELECT date_trunc('month', visit_date), ward, count(*), sum(cost - 1) FROM visits
    GROUP BY 1, 2""",
    """SELECT date_trunc('month', visit_date), sum(score), count(DISTINCT patient_id) FROM tests
    JOIN visits USING (visit_id) WHERE cost > 5 GROUP BY 1""",
    """SELECT date_trunc('month', visit_date), count(DISTINCT patient_id), count(*) FROM visits
    GROUP BY 1""",
    "SELECT date_trunc('month', visit_date), median(cost) FROM visits GROUP BY 1",
    "SELECT doctor_id, median(cost), count(*) FROM visits GROUP BY 1",
    "SELECT ward, quantile_disc(cost, 0.1) FROM visits GROUP BY 1",
    "SELECT ward, median(cost), mode(ward) FILTER (WHERE cost > 10) FROM visits GROUP BY 1",
    "SELECT count(*), sum(cost) FROM visits",
    "SELECT sex, count(*), sum(cost) FROM visits JOIN patients USING (patient_id) GROUP BY 1",
    "SELECT city, count(*) FROM visits JOIN patients USING (patient_id) GROUP BY 1",
    "SELECT ward, city, count(*) FROM visits JOIN patients USING (patient_id) GROUP BY 1, 2",
    "SELECT kind, sum(score), count(*) FROM tests GROUP BY 1",
    "SELECT kind, ward, sum(score), count(*) FROM tests JOIN visits USING (visit_id) GROUP BY 1, 2",
    "SELECT ward, sum(score) FROM visits LEFT JOIN tests USING (visit_id) GROUP BY 1",
    "SELECT kind, count(*) FROM tests LEFT JOIN visits USING (visit_id) WHERE cost > 5 GROUP BY 1",
    "SELECT w, count(*) FROM (SELECT ward AS w, cost FROM visits) GROUP BY 1",
    """SELECT sex, avg(cost), count(cost), count(DISTINCT patient_id), median(cost)
    FROM visits JOIN patients USING (patient_id) WHERE age > 30 GROUP BY 1""",
    """SELECT s, sum(c) FROM (SELECT sex AS s, cost AS c, p.patient_id AS i FROM visits v
    JOIN patients p ON v.patient_id = p.patient_id) WHERE i <> 2 GROUP BY 1""",
    "SELECT count(*), avg(cost) FROM visits WHERE patient_id > 1",
    "SELECT count(*), sum(score), avg(score) FROM tests",
    """SELECT city, count(*), avg(score) FROM tests JOIN visits USING (visit_id)
    JOIN patients USING (patient_id) WHERE sex = 'f' GROUP BY 1""",
    """SELECT sex, sum(score) FROM patients p, visits v, tests t
    WHERE v.patient_id = p.patient_id AND v.visit_id = t.visit_id AND p.age > 30 GROUP BY 1""",
    """SELECT sex, count(score) FROM (SELECT t.score, v.patient_id AS i, v.cost FROM tests t
    JOIN visits v ON t.visit_id = v.visit_id) JOIN patients ON i = patient_id GROUP BY 1""",
    """SELECT city, sum(cost) FILTER (WHERE sex = 'f'), count(*) FILTER (WHERE age > 40),
    sum(CASE WHEN sex = 'm' THEN cost END), count(cost) FILTER (WHERE v.patient_id > 1), count(*)
    FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY 1""",
    """SELECT sex, kind, sum(score), count(*) FROM tests t JOIN visits v ON t.visit_id = v.visit_id
    JOIN patients p ON p.patient_id = v.patient_id WHERE score > 2 GROUP BY 1, 2""",
    """SELECT kind, sum(score + age), count(*) FILTER (WHERE v.patient_id < age) FROM tests t
    JOIN visits v ON t.visit_id = v.visit_id JOIN patients p ON p.patient_id = v.patient_id
    GROUP BY 1""",
    # What leads to a unit may leave out its rows, or tell them apart.
    """SELECT sex, sum(score) FROM tests t JOIN visits v ON v.visit_id = t.visit_id AND cost > 10
    JOIN patients USING (patient_id) GROUP BY 1""",
    """SELECT sex, sum(score) FROM tests t JOIN visits v ON v.visit_id = t.visit_id
    JOIN patients p ON p.patient_id = v.patient_id AND p.patient_id < t.visit_id GROUP BY 1""",
    """SELECT sex, sum(score - cost) FROM tests t JOIN visits v ON v.visit_id = t.visit_id
    JOIN patients p ON p.patient_id = v.patient_id GROUP BY 1""",
    """SELECT sex, sum(score) FROM tests t JOIN visits v ON v.visit_id = t.visit_id
    JOIN visits w ON w.visit_id = t.visit_id AND w.cost < 50
    JOIN patients p ON p.patient_id = v.patient_id GROUP BY 1""",
    # A unit's sums are of all its rows: not of those that are asked for, or in one of its groups.
    """SELECT sex, sum(cost) FROM visits JOIN patients USING (patient_id) WHERE ward = 'ER'
    GROUP BY 1""",
    """SELECT sex, sum(cost), count(*) FROM visits JOIN patients
    ON visits.patient_id = patients.patient_id AND cost < 10 * age GROUP BY 1""",
    """SELECT sex, month(visit_date), sum(cost) FROM visits JOIN patients USING (patient_id)
    GROUP BY 1, 2""",
    """SELECT sex, sum(cost) FILTER (WHERE cost > 5 * age), count(*) FILTER (WHERE age > 40)
    FROM visits JOIN patients USING (patient_id) GROUP BY 1""",
    """SELECT c > 10, count(*) FROM (SELECT sex AS s, cost AS c FROM visits
    JOIN patients USING (patient_id)) GROUP BY 1""",
    """SELECT n, count(*) FROM (SELECT row_number()
    OVER (PARTITION BY patient_id ORDER BY cost) AS n FROM visits) WHERE n < 4 GROUP BY 1""",
    # Of a patient's visits those of one ward may be light and the others not, but all are numbered.
    """SELECT ward, count(*), sum(cost) FROM (SELECT ward, cost, row_number()
    OVER (PARTITION BY patient_id ORDER BY cost) AS n FROM visits) WHERE n < 4 GROUP BY 1""",
    """SELECT ward, count(*) FROM visits v
    WHERE EXISTS (SELECT 1 FROM tests t WHERE t.visit_id = v.visit_id) GROUP BY 1""",
    *LONE_ROWS,
    *COUNTS,
]


SHARE = 17
"""One in so many statements of the notes is tried in every run."""


@pytest.mark.parametrize("claim", in_turn(((c.name, (c,)) for c in accepted()), SHARE))
def test_no_neighbour_changes_more_than_derived(claim: Claim) -> None:
    attack(claim.sql, claim.schema, LIMITS["narrow"], databases=1)


@pytest.mark.parametrize(
    ("sql", "limits"),
    in_turn(
        ((f"{sql}-{name}", (sql, limits)) for sql in SHAPES for name, limits in LIMITS.items()), 13
    ),
)
def test_shapes_that_are_summed_in_two_parts_stay_within_bounds(
    sql: str, limits: ContributionLimits
) -> None:
    attack(sql, "clinic", limits, databases=3)


def test_many_shapes_are_summed_in_two_parts() -> None:
    ready = [proved(sql, "clinic", private("clinic"), AS_DECLARED, ready=True) for sql in SHAPES]
    releases = [release for one in ready for release in one.releases]
    plans = [release.choice.plan for release in releases if is_split(release)]
    assert len(plans) >= 18
    by_row = [plan for plan in plans if isinstance(plan, SplitByContribution)]
    assert sum(plan.no_clamp is not None for plan in by_row) >= 4
    assert sum(isinstance(plan, StoredUnitSums) for plan in plans) >= 11


def test_units_are_light_whose_rows_in_all_groups_fit_the_norm() -> None:
    sql = "SELECT ward, count(*), sum(cost) FROM visits GROUP BY ward"
    (release,) = proved(sql, "clinic", private("clinic"), LIMITS["scaled"], ready=True).releases
    assert isinstance(release.choice.plan, SplitByContribution)
    attack(sql, "clinic", LIMITS["scaled"], databases=6)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, count(*), sum(cost) FROM visits WHERE cost > 10 GROUP BY 1",
        "SELECT ward, median(cost) FROM visits WHERE cost > 0 GROUP BY 1",
    ],
)
def test_units_are_light_that_have_no_more_groups_than_count(sql: str) -> None:
    """Of three wards and NULL three count; few units have rows of all of them."""
    limits = ContributionLimits(groups=3, rows_per_group=1)
    (release,) = proved(sql, "clinic", private("clinic"), limits, ready=True).releases
    assert isinstance(release.choice.plan, SplitByContribution)
    assert "values of ward in the unit <= 3" in release.choice.plan.note
    attack(sql, "clinic", limits, databases=6)


def test_units_are_drawn_groups_of_where_combinations_may_be_more() -> None:
    """Three wards and as many doctors are nine groups, of which five count."""
    sql = "SELECT ward, doctor_id, sum(cost) FROM visits WHERE cost > 10 GROUP BY 1, 2"
    limits = ContributionLimits(groups=5, rows_per_group=2)
    (release,) = proved(sql, "clinic", private("clinic"), limits, ready=True).releases
    assert not is_split(release)


@pytest.mark.parametrize("sql", LONE_ROWS)
def test_rows_that_stand_for_their_units_stay_within_bounds(sql: str) -> None:
    (release,) = proved(sql, "clinic", private("clinic"), AS_DECLARED, ready=True).releases
    plan = release.choice.plan
    assert isinstance(plan, CountUnitsFirst)
    assert plan.value_rows is not None
    attack(sql, "clinic", AS_DECLARED, databases=6)


@pytest.mark.parametrize("limits", [AS_DECLARED, LIMITS["few"]], ids=["declared", "few"])
@pytest.mark.parametrize("sql", COUNTS)
def test_rows_that_are_counted_by_what_is_stored_stay_within_bounds(
    sql: str, limits: ContributionLimits
) -> None:
    (release,) = proved(sql, "clinic", private("clinic"), limits, ready=True).releases
    plan = release.choice.plan
    assert isinstance(plan, StoredUnitSums)
    assert plan.rest is None
    attack(sql, "clinic", limits, databases=6)
