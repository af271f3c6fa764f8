"""What a cap leaves of each unit's sum in a group, as exact integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from neighbor_search.public_rows import PUBLIC
from notes.compiler import prepared, schema_of

from dpsql.audit.databases.database_batch import DatabaseBatch
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.bounding.options import AS_DECLARED, ContributionLimits, SumCap
from dpsql.plan.bounded_release.bounded_release import OneRowPerUnit
from dpsql.plan.bounded_release.statistic import CappedSum, Sum
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.digest.canonical_digest import release_digest
from dpsql.structs import replace

Visit = tuple[int, str, float | None]

DAY = date(2024, 1, 1)


def release_of(
    sql: str, limits: ContributionLimits = AS_DECLARED, schema: str = "clinic"
) -> CompiledRelease:
    (release,) = prepared(sql, schema, frozenset(), None, limits).releases
    return release


def totals(release: CompiledRelease, **given: Sequence[tuple[object, ...]]) -> list[list[int]]:
    """The integers of each group, of a clinic that has these rows."""
    rows: Rows = {name: [] for name in schema_of("clinic").tables}
    rows |= {name: list(own) for name, own in given.items()}
    (found,) = DatabaseBatch.separately(schema_of("clinic"), PUBLIC["clinic"], [rows]).totals(
        release, "1"
    )
    return sorted(map(list, found.values()))


def visits(*costs: tuple[int, str, str | None]) -> list[tuple[object, ...]]:
    """Visits of patients to wards, at these costs."""
    return [
        (number, patient, None, DAY, None if cost is None else Decimal(cost), ward)
        for number, (patient, ward, cost) in enumerate(costs)
    ]


def scored(*scores: int | None) -> dict[str, list[tuple[object, ...]]]:
    """A patient with one visit, and with tests of these scores in it."""
    return {
        "visits": [(1, 1, None, DAY, Decimal(1), "ER")],
        "tests": [(number, 1, "blood", score) for number, score in enumerate(scores)],
    }


WARDS = "SELECT ward, sum(cost) FROM visits GROUP BY ward OPTIONS (unit_sum = 1500)"


def test_each_units_sum_in_each_group_is_cut_at_the_cap() -> None:
    found = totals(
        release_of(WARDS),
        visits=visits(
            *[(1, "ER", "900.00")] * 2,  # 1800, of which 1500 count
            (1, "GP", "900.00"),
            *[(2, "ER", "700.00")] * 2,  # 1400
        ),
    )
    # Sums are in cents.
    assert found == [[90_000], [290_000]]


def test_a_sum_of_too_many_rows_is_cut_and_not_scaled() -> None:
    # Three visits count in a ward; of six the cap leaves what it leaves of three.
    many = [(1, "ER", "600.00")] * 6 + [(2, "ER", "200.00")] * 6
    assert totals(release_of(WARDS), visits=visits(*many)) == [[150_000 + 120_000]]
    few = release_of("SELECT ward, sum(cost) FROM visits GROUP BY ward")
    assert totals(few, visits=visits(*many)) == [[180_000 + 60_000]]


def test_rows_in_all_groups_are_limited_after_the_cap() -> None:
    limits = ContributionLimits(rows=4, unit_sum=Fraction(1500))
    release = release_of("SELECT ward, sum(cost) FROM visits GROUP BY ward", limits)
    # Two rows in each of three wards: six, of which four count, one, one and two. 1500 of 1800 is
    # left in each, then what is left of its rows.
    many = [(1, ward, "900.00") for ward in ("ER", "GP", "ICU") for _ in range(2)]
    assert sorted(totals(release, visits=visits(*many))) == [[75_000], [75_000], [150_000]]


def test_rows_in_all_groups_scale_no_sum_whose_bound_they_leave_as_it_is() -> None:
    # Four rows could fill all four groups with 250 each.
    limits = ContributionLimits(rows=4, unit_sum=Fraction(250))
    release = release_of("SELECT ward, sum(cost), count(*) FROM visits GROUP BY ward", limits)
    many = [(1, ward, "100.00") for ward in ("ER", "GP", "ICU") for _ in range(2)]
    # Of the six rows four count, whole ones.
    counted = [[1, 20_000], [1, 20_000], [2, 20_000]]
    assert sorted(totals(release, visits=visits(*many))) == counted


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((5, -4), 1),  # the cap is on the sum, and not on rows
        ((5, 5), 7),
        ((-5, -5), -7),
        ((None, None), 0),
        ((5, None), 5),
        ((9, -100), 0),  # rows keep their own bounds
        ((), None),
    ],
)
def test_of_values_of_both_signs_the_sum_is_cut(
    scores: tuple[int | None, ...], expected: int | None
) -> None:
    release = release_of("SELECT kind, sum(score) FROM tests GROUP BY kind OPTIONS (unit_sum = 7)")
    found = totals(release, **scored(*scores))
    assert found == ([] if expected is None else [[expected]])


HUGE = 2**63 - 1


@pytest.mark.parametrize(
    ("patients", "expected"),
    [
        ([HUGE], 300),
        ([HUGE, HUGE], 600),
        ([-HUGE - 1, 5], -295),
        ([0, 299, 301, -301], 299 + 300 - 300),
    ],
)
def test_a_column_without_bounds_has_those_of_the_cap(patients: list[int], expected: int) -> None:
    release = release_of("SELECT sum(visit_id) FROM visits OPTIONS (unit_sum = 300)")
    rows = [(number, unit, None, DAY, None, "ER") for unit, number in enumerate(patients)]
    assert totals(release, visits=rows) == [[expected]]


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324, None])
def test_doubles_without_bounds_are_within_the_cap(value: float | None) -> None:
    sql = "SELECT sum(weight * weight * weight / 3) FROM patients OPTIONS (unit_sum = 300)"
    release = release_of(sql)
    (statistic,) = release.step.bounded.contributions.statistics
    found = totals(release, patients=[(1, 50, "F", value, True, "x")])
    assert abs(found[0][0]) * statistic.step <= 300


def test_no_row_is_a_sum_of_zero() -> None:
    assert totals(release_of("SELECT sum(cost) FROM visits OPTIONS (unit_sum = 1)")) == [[0]]


def test_where_each_row_is_a_unit_its_value_is_within_the_cap() -> None:
    release = release_of("SELECT sum(value) FROM readings OPTIONS (unit_sum = 0.25)")
    assert isinstance(release.step.bounded.limited, OneRowPerUnit)
    (statistic,) = release.step.bounded.contributions.statistics
    assert isinstance(statistic.term, Sum)
    found = totals(release, readings=[(0, 1.0), (1, 0.125), (2, -0.5), (3, None)])
    assert found == [[int((Fraction(1, 4) + Fraction(1, 8) - Fraction(1, 4)) / statistic.step)]]


def test_a_caller_may_cap_the_sums_of_some_arguments() -> None:
    sql = "SELECT sum(cost), sum(CASE WHEN ward = 'ER' THEN cost END), sum(visit_id) FROM visits"
    plain = release_of("SELECT sum(cost), sum(CASE WHEN ward = 'ER' THEN cost END) FROM visits")
    whole, of_ward = (output.call.arguments[0] for output in plain.release.aggregates)
    for argument, caps in ((whole, [250, 250]), (of_ward, [250, 250])):
        limits = ContributionLimits(
            unit_sum=Fraction(1000), sums=(SumCap(argument, Fraction(250)),)
        )
        terms = release_of(sql, limits).step.bounded.contributions.statistics
        found = [s.term.cap * s.step for s in terms if isinstance(s.term, CappedSum)]
        assert found == [*caps, 1000]


def test_a_cap_is_above_zero() -> None:
    argument = release_of(WARDS).release.aggregates[0].call.arguments[0]
    with pytest.raises(ValueError, match="above 0"):
        SumCap(argument, Fraction(0))


def test_a_cap_that_binds_nothing_changes_nothing() -> None:
    sql = "SELECT ward, sum(cost), avg(cost), count(*) FROM visits GROUP BY ward"
    usual = release_of(sql)
    wide = release_of(sql, ContributionLimits(unit_sum=Fraction(3000)))
    tight = release_of(sql, ContributionLimits(unit_sum=Fraction(2999)))
    tighter = release_of(sql, ContributionLimits(unit_sum=Fraction(2998)))
    assert (wide.key, wide.step.query.sql) == (usual.key, usual.step.query.sql)
    assert wide.step.bounded.notes == usual.step.bounded.notes
    assert len({usual.key, tight.key, tighter.key}) == 3
    assert tight.step.measurement != usual.step.measurement


def test_caps_are_told_apart_in_what_a_release_means() -> None:
    # Noise may be the same, as where a cap is of a statistic that is asked for beside a larger one.
    found = [
        release_digest(release_of(f"{WARDS[:-5]}{cap})").step.bounded, {}) for cap in (700, 701)
    ]
    assert found[0] != found[1]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, sum(cost) FROM visits GROUP BY ward",
        "SELECT ward, sum(cost), sum(-cost), sum(visit_id % 7) FROM visits GROUP BY ward",
    ],
)
@pytest.mark.parametrize("cap", [1, 3, 999, 1000, 1001, 1700, 2999])
def test_a_cap_never_makes_a_bound_wider(sql: str, cap: int) -> None:
    # Statistics alike are weighted alike, by what one unit changes of them.
    usual = release_of(sql)
    capped = release_of(sql, ContributionLimits(unit_sum=Fraction(cap)))
    before, after = usual.sensitivity, capped.sensitivity
    assert all(a <= b for a, b in zip(after.per_group, before.per_group, strict=True))
    for power, one, other in ((1, before.l1, after.l1), (2, before.l2, after.l2)):

        def weighted(index: int, change: int, power: int = power) -> Fraction:
            return Fraction(change, after.per_group[index]) ** power

        assert other.total(weighted) <= one.total(weighted)


def test_steps_are_as_fine_as_the_cap_asks() -> None:
    sql = "SELECT sum(weight) FROM patients OPTIONS (unit_sum = 0.001)"
    (statistic,) = release_of(sql).step.bounded.contributions.statistics
    assert isinstance(statistic.term, CappedSum)
    assert statistic.term.cap > 2**28
    assert statistic.term.cap * statistic.step <= Fraction(1, 1000)


def test_what_is_capped_is_no_sum_of_values_less_a_centre() -> None:
    (statistic,) = release_of(WARDS).step.bounded.contributions.statistics
    assert isinstance(statistic.term, CappedSum)
    with pytest.raises(ValueError, match="as they are"):
        replace(statistic.term, value=replace(statistic.term.value, center=1))
    with pytest.raises(ValueError, match="one step"):
        replace(statistic.term, cap=0)
