"""Identifiers of the emitted SQL."""

from __future__ import annotations

from sqlglot import exp

from dpsql.plan.expression import Column


def column_name(column: Column) -> str:
    """Columns go by id: aliases of the statement never reach the engine."""
    return f"c{column.id}"


def reference(column: Column) -> exp.Column:
    """A column of the FROM clause; ids are unique, so no table needs naming."""
    return exp.column(column_name(column))


def schema_name(name: str) -> exp.Identifier:
    """A table or column of the schema, quoted."""
    return exp.to_identifier(name, quoted=True)


def subquery(select: exp.Select, alias: str) -> exp.Subquery:
    """A derived table."""
    return select.subquery(alias, copy=False)


def named(expression: exp.Expr, column: Column) -> exp.Expr:
    """`expression AS c<id>`."""
    return exp.alias_(expression, column_name(column), copy=False)


def no_column() -> exp.Expr:
    """A relation without columns still has rows."""
    return exp.alias_(exp.Literal.number("1"), "nothing")
