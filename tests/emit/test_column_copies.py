"""Where rows are joined, what may raise reads copies of their columns, and elsewhere it doesn't."""

from __future__ import annotations

import re

import pytest
from neighbor_search.sidecar import private, proved
from sqlglot import exp

from dpsql.bounding.options import ContributionLimits
from dpsql.emit.dialect.duckdb.attempt.column_copies import mark_joined
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.nodes import null_if_too_large
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, subquery, table, with_alias
from dpsql.physical.modifier.unit_batches import RowsByName

WIDE = ContributionLimits(groups=9, rows_per_group=999, rows=9999)
LIMITED = ContributionLimits(groups=1, rows_per_group=1)

MAY_RAISE = "v.doctor_id * v.visit_id * v.doctor_id"
TESTED = f"""{MAY_RAISE} AS e, t.score AS s FROM visits v JOIN tests t ON t.visit_id = v.visit_id"""
BY_UNIT = "OVER (PARTITION BY v.patient_id, v.ward)"

JOINED = [
    f"SELECT count(*) FROM visits v JOIN doctors d ON d.doctor_id = {MAY_RAISE}",
    f"SELECT count(*) FROM visits v LEFT JOIN doctors d ON d.doctor_id = {MAY_RAISE}",
    f"SELECT count(*) FROM visits v WHERE {MAY_RAISE} IN (SELECT doctor_id FROM doctors)",
    # The condition is above GROUP BY, or DISTINCT, and DuckDB asks it of what is joined.
    f"SELECT count(*) FROM (SELECT v.patient_id, {TESTED} GROUP BY ALL) g WHERE e = s",
    f"SELECT count(*) FROM (SELECT DISTINCT v.patient_id, {TESTED}) g WHERE e = s",
    # Rows are looked up by something else.
    f"SELECT count({MAY_RAISE}) FROM visits v JOIN doctors d ON d.doctor_id = v.doctor_id",
    f"SELECT count({MAY_RAISE}) FROM visits v WHERE v.doctor_id IN (SELECT doctor_id FROM doctors)",
    f"SELECT count(*) FROM visits v, doctors d WHERE d.doctor_id = v.doctor_id AND {MAY_RAISE} > 1",
    f"SELECT count(n + r) FROM (SELECT {MAY_RAISE} AS n, count(*) {BY_UNIT} AS r FROM visits v) t",
    f"SELECT count(r) FROM (SELECT sum({MAY_RAISE}) {BY_UNIT} AS r FROM visits v) t",
]

BY_KEY = f"""
SELECT CASE WHEN {MAY_RAISE} > 5 THEN 'a' ELSE 'b' END AS g, count(*) FROM visits v GROUP BY g
"""


def written(sql: str, limits: ContributionLimits) -> str:
    (release,) = proved(sql, "clinic", private("clinic"), limits, ready=True).releases
    return release.step.query.sql


@pytest.mark.parametrize("limits", [WIDE, LIMITED], ids=["wide", "limited"])
@pytest.mark.parametrize("sql", JOINED)
def test_what_may_raise_reads_no_column_of_joined_rows(
    sql: str, limits: ContributionLimits
) -> None:
    text = written(sql, limits)
    assert "TRY(" in text
    assert not re.search(r"TRY\(+c\d", text)


def test_nor_does_a_key_that_its_listed_values_are_joined_by() -> None:
    (key,) = re.findall(r' JOIN "domain 0" AS d0 ON (.*?) = d0\.k0', written(BY_KEY, LIMITED))
    assert "TRY(" in key
    assert not re.search(r"TRY\(+c\d", key)


def test_rows_of_one_table_that_are_grouped_are_read_themselves() -> None:
    text = written(f"SELECT count({MAY_RAISE}) FROM visits v WHERE {MAY_RAISE} > 1", WIDE)
    assert re.search(r"TRY\(+c\d", text)
    assert "LAMBDA" not in text.upper()


def attempting(source: str) -> exp.Select:
    """A SELECT of what may raise of a table's rows."""
    return select_of([with_alias(null_if_too_large(column_ref("n")), "n")], table(source))


def test_rows_that_stand_in_for_others_by_name_are_read_as_those_are() -> None:
    names = RowsByName()
    named = names.name(attempting("visits"))
    tree = select_of([exp.Star()], subquery(named, "t"))
    alone = names.filled([tree])
    tree.join(subquery(attempting("others"), "o"), on=exp.true(), copy=False)
    joined = names.filled([tree])
    assert alone is not None
    assert joined is not None
    assert [text.count("LAMBDA") for text in (*alone[0], *joined[0])] == [0, 2]


def test_a_join_of_what_has_a_name_is_known_where_the_name_is_read() -> None:
    tree = attempting("rows 0")
    assert mark_joined(tree, joined=frozenset({"rows 0"})) == {"rows 0"}
    assert "LAMBDA" in rendered(tree)
