"""UNION BY NAME: columns are matched by name, and are NULL where a side has none."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.column_ids import Names
from dpsql.bind.context import BoundQuery
from dpsql.bind.syntax.parse import span
from dpsql.errors import DuplicateColumn
from dpsql.plan.expression import Column, Literal
from dpsql.plan.operator import Output, Project
from dpsql.schema.sql_type import Null


def by_name(
    left: BoundQuery, right: BoundQuery, names: Names, node: exp.Expr
) -> tuple[BoundQuery, BoundQuery]:
    """Both sides with the columns of the left one, then those that only the right one has."""
    one, other = _named(left, node), _named(right, node)
    shown = {name.casefold(): name for name in (*right.names, *left.names)}
    every = tuple(dict.fromkeys((*one, *other)))
    titles = tuple(shown[name] for name in every)

    def arranged(side: BoundQuery, columns: dict[str, Column]) -> BoundQuery:
        outputs = []
        for name, title in zip(every, titles, strict=True):
            value = columns.get(name) or Literal(None, Null())
            outputs.append(Output(names.column(title, value.type), value))
        return BoundQuery(Project(side.plan, tuple(outputs)), titles)

    return arranged(left, one), arranged(right, other)


def _named(side: BoundQuery, node: exp.Expr) -> dict[str, Column]:
    """The columns of `side` by casefolded name; DuplicateColumn if two share one."""
    columns: dict[str, Column] = {}
    for name, column in zip(side.names, side.columns, strict=True):
        if name.casefold() in columns:
            raise DuplicateColumn(
                f"one side of BY NAME has two columns {name}",
                at=span(node),
                hint=f"name one of them differently: {name} AS other",
            )
        columns[name.casefold()] = column
    return columns
