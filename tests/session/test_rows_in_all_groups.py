"""A unit of too many rows in all its groups: as many of them count as may, and whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import duckdb
import pytest
from notes.compiler import prepared
from notes.exact import raw_groups

from dpsql.release.columns.group_keys import domain_table

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
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE visits (patient_id BIGINT, ward VARCHAR, cost DECIMAL(10, 2))"
        )
        visits = [
            (patient, None if ward == "None" else ward)
            for patient, of_wards in enumerate(patients)
            for ward, number in of_wards.items()
            for _ in range(number)
        ]
        connection.executemany("INSERT INTO visits VALUES (?, ?, 600)", visits)
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
