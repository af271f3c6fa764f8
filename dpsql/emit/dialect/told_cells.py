"""The cells of few keys: told of the keys themselves, or by a join with the table that lists them.

DuckDB takes 0.5 ms to plan and begin that join, which is a quarter of a small statement. On servers
the table comes in a parameter, and what is planned by their rules is left to them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlglot import exp

from dpsql.emit.dialect.nodes import Neutral, integer, untyped_constant
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.privacy.domain import Value
from dpsql.schema.sql_type import Boolean, Date, Integer, SqlType, Varchar

MOST_TOLD: Final = 16
"""Cells that keys are compared with one after the other; of more, a table is joined."""


class ToldCell(NamedTuple):
    """A column `name`: the index in `values` of what is in a column `key` of type `kind`."""

    name: str
    key: str
    values: tuple[Value | None, ...]
    kind: SqlType

    @property
    def can_be_told(self) -> bool:
        """Whether they are few, and each constant is equal to the same keys as a table's value."""
        return len(self.values) <= MOST_TOLD and all(
            value is None or _is_plain(value, self.kind) for value in self.values
        )


class WithCells(Neutral, exp.Query):
    """Sums by key `joined` to their cells, all of which can be `told`, with rows `counted`."""


def with_cells(joined: exp.Select, told: Sequence[ToldCell], counted: str) -> exp.Query:
    """Sums by key, `joined` to the tables of their cells, which could be `told` as well.

    Their column `counted` says of how many rows each is: 1 or more. What reads them leaves out
    those whose cell is NULL.
    """
    return WithCells(joined=joined, told=list(told), counted=counted)


def cells_by_comparison(joined: exp.Select, told: Sequence[ToldCell], counted: str) -> exp.Select:
    """The same sums without a join: NULL is the cell of those that are in none."""
    cells = {each.name: _cell_number(each, counted) for each in told}
    items = [
        with_alias(cells[item.alias], item.alias) if item.alias in cells else item
        for item in joined.expressions
    ]
    return select_of(items, joined.args["from_"].this)


def _cell_number(told: ToldCell, counted: str) -> exp.Expr:
    """The index of a key, NULL of any other.

    That a group has rows is asked, too, since DuckDB would ask a condition of keys alone of each
    row that is summed: 16 dates take as long to compare with as the sums.
    """
    no_rows = exp.LT(this=column_ref(counted), expression=integer(1))
    case = exp.case().when(no_rows, exp.null(), copy=False)
    for number, value in enumerate(told.values):
        key = column_ref(told.key)
        same: exp.Expr = exp.Is(this=key, expression=exp.null())
        if value is not None:
            same = exp.EQ(this=key, expression=untyped_constant(value, told.kind))
        case = case.when(same, integer(number), copy=False)
    return case


def _is_plain(value: Value, kind: SqlType) -> bool:
    match kind:
        case Varchar():
            return isinstance(value, str) and value.isprintable()
        case Integer(bits=bits):
            return bits < 128 and type(value) is int
        case Boolean():
            return isinstance(value, bool)
        case Date():
            return type(value) is dt.date
        case _:
            return False
