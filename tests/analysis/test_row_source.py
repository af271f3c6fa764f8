"""The table whose rows may be taken in parts is read once: whatever asks of it reads all of it."""

from __future__ import annotations

import pytest
from notes.compiler import schema_of

from dpsql.analysis.lineage.functional_dependency import declared
from dpsql.analysis.lineage.row_source import row_source
from dpsql.plan.expression import Column, Compare, Comparison
from dpsql.plan.operator import MarkJoin, OuterJoin, OuterKind, Output, Release, Scan
from dpsql.schema.sql_type import BIGINT, Boolean

_ID = Column(1, "visit_id", BIGINT)


@pytest.mark.parametrize(
    "keys", [(), (Output(Column(2, "key", BIGINT), _ID),)], ids=["a total", "totals of groups"]
)
def test_rows_beside_a_released_total_are_parts_of_their_table(keys: tuple[Output, ...]) -> None:
    scan = Scan(schema_of("clinic").tables["visits"], (_ID,), Column(9, "unit", BIGINT))
    released = Release(scan, keys, ())
    joined = row_source(OuterJoin(OuterKind.LEFT, scan, released, (), scan.unit), declared)
    assert (joined is None) == bool(keys)
    assert joined is None or (joined.scan == scan and not joined.is_complete)


def test_rows_that_are_asked_of_their_own_table_are_no_parts_of_it() -> None:
    """Whether somebody else has a visit's number is another question in a half of the table."""
    table = schema_of("clinic").tables["visits"]
    ids = [Column(number, "visit_id", BIGINT) for number in (1, 2)]
    one, other = (Scan(table, (column,), Column(9, "unit", BIGINT)) for column in ids)
    on, mark = (Compare(Comparison.UNEQUAL, *ids),), Column(3, "mark", Boolean())
    of_another = row_source(MarkJoin(one, other, on, mark), declared)
    assert of_another is not None
    assert of_another.scan == one
    assert row_source(MarkJoin(one, one, on, mark), declared) is None
