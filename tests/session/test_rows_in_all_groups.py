"""A unit of too many rows in all its groups: as many of them count as may, and whole."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import pytest
from data.database import attached
from notes.compiler import prepared
from notes.exact import raw_groups

from dpsql.audit.databases.database_batch import Groups
from dpsql.audit.sensitivity.bound_check import violations
from dpsql.release.columns.group_keys import domain_table
from dpsql.session.compile.compiled_release import CompiledRelease

WARDS = ("ER", "GP", "ICU", "None")
"""A ward that isn't known is a group of its own."""
ASKED = (
    "SELECT ward, count(*), sum(cost), count(*) FILTER (WHERE cost > 500) FROM visits"
    " GROUP BY ward OPTIONS (groups = 4, rows = {rows})"
)


def counted(
    patients: Sequence[Mapping[str, int]], rows: int, salt: str = "1"
) -> dict[str, tuple[int, ...]]:
    """The engine's integers by ward: visits, those for more than 500, and hundredths of all cost.

    Of each patient so many visits are in each ward, each for 600.
    """
    (release,) = prepared(ASKED.format(rows=rows), "clinic", frozenset()).releases
    (domain,) = release.step.query.domains
    with attached() as connection:
        connection.execute(
            "CREATE TABLE visits (patient_id BIGINT, ward VARCHAR, cost DECIMAL(10, 2))"
        )
        visits = ", ".join(
            f"({patient}, nullif('{ward}', 'None'), 600)"
            for patient, of_wards in enumerate(patients)
            for ward, number in of_wards.items()
            for _ in range(number)
        )
        connection.execute(f"INSERT INTO visits VALUES {visits}")
        connection.register(domain.name, domain_table(domain))
        found = raw_groups(connection, release, salt).totals.to_pylist()
    integers = (tuple(map(int, row.values())) for row in found)
    return {str(domain.cells[own[0]][0]): own[1:] for own in integers}


@pytest.mark.parametrize("visits", [(3, 2, 1, 1), (3, 3, 3, 3), (1, 1, 1, 1), (3, 0, 2, 1)])
@pytest.mark.parametrize("rows", [3, 5])
def test_as_many_rows_count_as_may_and_each_group_has_its_share(
    visits: tuple[int, ...], rows: int
) -> None:
    of_all = sum(visits)
    found = counted([dict(zip(WARDS, visits, strict=True))], rows)
    assert sum(count for count, *_ in found.values()) == min(rows, of_all)
    for ward, own in zip(WARDS, visits, strict=True):
        count, *sums = found.get(ward, (0, 0, 0))
        assert abs(count - Fraction(own * min(rows, of_all), of_all)) < 1
        # What is left of a group's rows is left of its sums.
        assert sums == [count, 60_000 * count]


def test_no_group_lacks_more_of_its_rows_than_another() -> None:
    # Of 400 patients with a visit in each of four wards three visits count: 300 in each ward, each
    # patient's fourth being drawn by a hash; P(a ward is 60 off) < 10^-11, of a binomial law.
    found = counted([dict.fromkeys(WARDS, 1)] * 400, 3)
    assert sum(count for count, *_ in found.values()) == 1200
    assert all(abs(count - 300) < 60 for count, *_ in found.values())


def test_which_rows_count_depends_on_the_salt() -> None:
    one = [dict.fromkeys(WARDS, 1)] * 20
    assert counted(one, 3) == counted(one, 3)
    assert counted(one, 3) != counted(one, 3, "another")


def moved(
    of_patients: Sequence[Mapping[str, Sequence[int]]], columns: str, rows: int
) -> Iterator[tuple[Groups, CompiledRelease]]:
    """The engine's integers by ward, of each patient alone whose visits have these costs there."""
    sql = f"SELECT ward, {columns} FROM visits GROUP BY ward OPTIONS (groups = 4, rows = {rows})"
    (release,) = prepared(sql, "clinic", frozenset()).releases
    (domain,) = release.step.query.domains
    with attached() as connection:
        connection.register(domain.name, domain_table(domain))
        for costs in of_patients:
            visits = ", ".join(
                f"(1, '{ward}', {cost})" for ward, each in costs.items() for cost in each
            )
            connection.execute(
                "CREATE OR REPLACE TABLE visits"
                " (patient_id BIGINT, ward VARCHAR, cost DECIMAL(10, 2));"
                f" INSERT INTO visits VALUES {visits}"
            )
            found = raw_groups(connection, release, "1").totals.to_pylist()
            integers = (tuple(map(int, row.values())) for row in found)
            yield Groups({(domain.cells[own[0]][0],): own[1:] for own in integers}), release


def summed(costs: Mapping[str, Sequence[int]], columns: str, rows: int) -> dict[str, int]:
    ((groups, _),) = moved([costs], columns, rows)
    return {str(ward): total for (ward,), (total,) in groups.items()}


ALONE = [
    "sum(cost)",
    "sum(-cost)",
    "sum(cost - 500)",
    "sum(cost) FILTER (WHERE cost > 500)",
    "count(*) FILTER (WHERE cost > 500)",
    "sum(cost) FILTER (WHERE cost < 500), sum(cost) FILTER (WHERE NOT cost < 500)",
]
EXTREMES: list[list[int]] = [[1000] * 3, [0] * 3, [1000, 0, 0], [501, 501, 1], [334] * 9]


@pytest.mark.parametrize("columns", ALONE)
@pytest.mark.parametrize("rows", [2, 4])
def test_no_patient_moves_its_sums_by_more_than_is_hidden(columns: str, rows: int) -> None:
    patients = [
        {"ER": own, "GP": own, "ICU": other}
        for own, other in itertools.combinations_with_replacement(EXTREMES, 2)
    ]
    found = moved(patients, columns, rows)
    for costs, (groups, release) in zip(patients, found, strict=True):
        assert not list(violations(Groups({}), groups, release, release.sensitivity)), costs


def test_of_a_sum_alone_only_what_many_rows_would_reach_is_scaled() -> None:
    """Three visits of 250 are no more than one of 1,000, and four visits count."""
    few = {"ER": [250] * 3, "GP": [250] * 3, "ICU": [1000, 0, 0]}
    assert summed(few, "sum(cost)", 4) == {"ER": 75_000, "GP": 75_000, "ICU": 100_000}


@pytest.mark.parametrize("dear", [1, 2, 3])
def test_a_sum_alone_is_no_more_than_as_many_rows_bring(dear: int) -> None:
    found = summed({ward: [1000] * dear for ward in ("ER", "GP", "ICU")}, "sum(cost)", 3)
    assert sum(found.values()) == 300_000
    most = summed({ward: [999, 1, 1] for ward in ("ER", "GP", "ICU")}, "sum(cost)", 3)
    assert sum(most.values()) <= 300_000


def test_a_count_of_some_rows_has_no_part_in_others() -> None:
    """Of twelve visits three are for more than 500, and four count."""
    costs = {ward: [600, 1, 1] for ward in ("ER", "GP", "ICU")}
    found = summed(costs, "count(*) FILTER (WHERE cost > 500)", 4)
    assert found == {"ER": 1, "GP": 1, "ICU": 1}
