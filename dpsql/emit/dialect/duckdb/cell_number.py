"""The cells of keys by comparisons alone, without a join with the table that lists them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.emit.dialect.duckdb.function_call import cast
from dpsql.emit.dialect.key_cells import KeyCells
from dpsql.emit.dialect.nodes import integer, untyped_constant
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.schema.sql_type import BIGINT


def cells_by_comparison(joined: exp.Select, cells: Sequence[KeyCells], counted: str) -> exp.Select:
    """The same sums without a join: NULL is the cell of those that are in none."""
    numbers = {each.name: _cell_number(each, counted) for each in cells}
    items = [
        with_alias(numbers[item.alias], item.alias) if item.alias in numbers else item
        for item in joined.expressions
    ]
    return select_of(items, joined.args["from_"].this)


def _cell_number(cells: KeyCells, counted: str) -> exp.Expr:
    """The index of a key, NULL of any other, in the type that tables have it in.

    A unit's groups are chosen by hashes of their cells, the same in all statements of a release.
    Nothing promises that an integer of another type has the same one.

    Rows are asked for, too, though no count is below 0: a condition of keys alone DuckDB would ask
    of each row that is summed, and 16 dates take as long to compare with as the sums.
    """
    below_zero = exp.LT(this=column_ref(counted), expression=integer(0))
    case = exp.case().when(below_zero, exp.null(), copy=False)
    for number, value in enumerate(cells.values):
        key = column_ref(cells.key)
        same: exp.Expr = exp.Is(this=key, expression=exp.null())
        if value is not None:
            same = exp.EQ(this=key, expression=untyped_constant(value, cells.kind))
        case = case.when(same, integer(number), copy=False)
    return cast(case, str(BIGINT))
