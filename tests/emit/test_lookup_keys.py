"""What DuckDB may look rows up by reads copies of their columns where it may raise."""

from __future__ import annotations

import re

import pytest
from neighbor_search.sidecar import private, proved

from dpsql.bounding.options import ContributionLimits

WIDE = ContributionLimits(groups=9, rows_per_group=999, rows=9999)
LIMITED = ContributionLimits(groups=1, rows_per_group=1)

MAY_RAISE = "v.doctor_id * v.visit_id * v.doctor_id"
TESTED = f"""{MAY_RAISE} AS e, t.score AS s FROM visits v JOIN tests t ON t.visit_id = v.visit_id"""

JOINED = [
    f"SELECT count(*) FROM visits v JOIN doctors d ON d.doctor_id = {MAY_RAISE}",
    f"SELECT count(*) FROM visits v LEFT JOIN doctors d ON d.doctor_id = {MAY_RAISE}",
    f"SELECT count(*) FROM visits v WHERE {MAY_RAISE} IN (SELECT doctor_id FROM doctors)",
    # The condition is above GROUP BY, or DISTINCT, and DuckDB asks it of what is joined.
    f"SELECT count(*) FROM (SELECT v.patient_id, {TESTED} GROUP BY ALL) g WHERE e = s",
    f"SELECT count(*) FROM (SELECT DISTINCT v.patient_id, {TESTED}) g WHERE e = s",
]

BY_KEY = f"""
SELECT CASE WHEN {MAY_RAISE} > 5 THEN 'a' ELSE 'b' END AS g, count(*) FROM visits v GROUP BY g
"""


def written(sql: str, limits: ContributionLimits) -> str:
    (release,) = proved(sql, "clinic", private("clinic"), limits, ready=True).releases
    return release.step.query.sql


@pytest.mark.parametrize("limits", [WIDE, LIMITED], ids=["wide", "limited"])
@pytest.mark.parametrize("sql", JOINED)
def test_what_joins_rows_reads_no_column_of_them_where_it_may_raise(
    sql: str, limits: ContributionLimits
) -> None:
    text = written(sql, limits)
    assert "TRY(" in text
    assert not re.search(r"TRY\(+c\d", text)


def test_nor_does_a_key_that_its_listed_values_are_joined_by() -> None:
    (key,) = re.findall(r' JOIN "domain 0" AS d0 ON (.*?) = d0\.k0', written(BY_KEY, LIMITED))
    assert "TRY(" in key
    assert not re.search(r"TRY\(+c\d", key)
