"""A table that is resized: of the rows that are too many, a hash leaves some out.

Rows have no names. What a hash orders is a row's values and its number among rows with the same
values, so that the order is that of the multiset of rows, however they are stored: of n equal rows
each lies somewhere else. Another row is one more place in that order, and pushes one row out of the
first N at most; the rows that are in a place are equal in all that is read.

Without the number, all rows that agree would be kept or left out together.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.emit.dialect.nodes import keyed_hash
from dpsql.emit.dialect.row_estimate import limit_rows
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, dummy_column, subquery, with_alias

_HASH = "hash"
_NUMBER = "number"


def first_rows(rows: exp.Select, names: Sequence[str], size: int) -> exp.Select:
    """`size` of the `rows`, or all of fewer; `names` are those of their columns."""
    if not names:
        return limit_rows(select_of([dummy_column()], subquery(rows, "r")), size)
    columns = [column_ref(name) for name in names]
    hashed = [*columns, with_alias(keyed_hash(columns), _HASH)]
    by_hash = select_of(_copied(hashed), subquery(rows, "r"))
    same = [column_ref(_HASH), *_copied(columns)]
    number = exp.Window(this=exp.Anonymous(this="row_number", expressions=[]), partition_by=same)
    numbered = select_of(
        [*_copied(columns), column_ref(_HASH), with_alias(number, _NUMBER)],
        subquery(by_hash, "r"),
    )
    # Two rows may have one hash, and zeros of two signs are equal: all of a row decides.
    order = [
        keyed_hash([*_copied(columns), column_ref(_NUMBER)]),
        column_ref(_HASH),
        *_copied(columns),
        column_ref(_NUMBER),
    ]
    ordered = [exp.Ordered(this=item, nulls_first=False) for item in order]
    first = select_of(_copied(columns), subquery(numbered, "r"))
    first.set("order", exp.Order(expressions=ordered))
    return limit_rows(first, size)


def _copied(expressions: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [expression.copy() for expression in expressions]
