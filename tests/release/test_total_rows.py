from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from neighbor_search.public_rows import PUBLIC
from notes.compiler import prepared, schema_of

from dpsql.audit.databases.database_batch import DatabaseBatch, Groups
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.bounding.options import AS_DECLARED, ContributionLimits

SQL = "SELECT ward, count(*), sum(cost), dp_over_limit(sum(cost)) FROM visits GROUP BY ward"

WARDS = ("ER", "ICU", "GP")


def totals(limits: ContributionLimits) -> Groups:
    """Of a patient with four visits of 1000 to each ward, and of one with a single visit to ER."""
    visited = [(1, ward) for ward in WARDS for _ in range(4)] + [(2, "ER")]
    rows: Rows = {name: [] for name in schema_of("clinic").tables}
    rows["visits"] = [
        (number, patient, None, date(2024, 1, 1), Decimal(1000), ward)
        for number, (patient, ward) in enumerate(visited)
    ]
    (release,) = prepared(SQL, "clinic", frozenset(), None, limits).releases
    (found,) = DatabaseBatch.separately(schema_of("clinic"), PUBLIC["clinic"], [rows]).totals(
        release, "1"
    )
    cells = release.step.bounded.contributions.domains[0].cells
    return {(cells[int(str(key))][0],): found[(key,)] for (key,) in found}


def test_rows_within_the_limit_in_all_count_as_the_limit_in_a_group_says() -> None:
    # Sums are in cents: of four visits three count.
    assert totals(AS_DECLARED) == {
        ("ER",): (4, 400_000, 1),
        ("ICU",): (3, 300_000, 1),
        ("GP",): (3, 300_000, 1),
    }


@pytest.mark.parametrize(
    ("rows", "kept"),
    # 9 rows would count in three wards: whole ones are kept, a third in each, rounded up or down.
    [(3, [1, 1, 1]), (4, [1, 1, 2]), (5, [1, 2, 2]), (6, [2, 2, 2])],
)
def test_a_unit_of_too_many_rows_in_all_counts_for_less_in_each_group(
    rows: int, kept: list[int]
) -> None:
    found = totals(ContributionLimits(rows=rows))
    visits, cents, over = found[("ER",)]
    found[("ER",)] = (visits - 1, cents - 100_000, over)  # of the other patient
    assert sorted(found.values()) == [(number, 100_000 * number, 1) for number in kept]


def test_units_of_few_rows_in_all_but_many_in_groups_are_told_apart() -> None:
    found = totals(ContributionLimits(rows_per_group=2, rows=4))
    # Two of each ward would count, six in all: four of them do.
    visits, cents, over = found[("ER",)]
    found[("ER",)] = (visits - 1, cents - 100_000, over)  # of the other patient
    assert sorted(found.values()) == [(1, 100_000, 1), (1, 100_000, 1), (2, 200_000, 1)]
