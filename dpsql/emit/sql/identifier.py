"""Identifiers of the emitted SQL."""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.sql.clauses import select_of
from dpsql.plan.expression import Column


def column_name(column: Column) -> str:
    """Columns go by id: aliases of the statement never reach the engine."""
    return f"c{column.id}"


def column_ref(name: str | exp.Identifier, table: str | None = None) -> exp.Column:
    """A column by its name, of the FROM clause's `table`."""
    return exp.Column(
        this=exp.to_identifier(name, copy=False),
        table=None if table is None else exp.to_identifier(table),
    )


def with_alias(expression: exp.Expr, name: str) -> exp.Alias:
    """`expression AS name`; `expression` becomes a part of it."""
    return exp.Alias(this=expression, alias=exp.to_identifier(name))


def reference(column: Column) -> exp.Column:
    """A column of the FROM clause; ids are unique, so no table needs naming."""
    return column_ref(column_name(column))


def schema_name(name: str) -> exp.Identifier:
    """A table or column of the schema, quoted."""
    return exp.to_identifier(name, quoted=True)


def table(name: str, alias: str | None = None) -> exp.Table:
    """A table that is handed to the engine with the statement."""
    shown = None if alias is None else exp.TableAlias(this=exp.to_identifier(alias))
    return exp.Table(this=exp.to_identifier(name), alias=shown)


def subquery(select: exp.Query, alias: str) -> exp.Subquery:
    """A derived table."""
    return select.subquery(alias, copy=False)


def union_all(query: exp.Query) -> exp.Select:
    """`SELECT *` of a query, such as a union, as a statement that can be filtered and joined."""
    return select_of([exp.Star()], query.subquery("t", copy=False))


def as_column(expression: exp.Expr, column: Column) -> exp.Expr:
    """`expression AS c<id>`."""
    return with_alias(expression, column_name(column))


def dummy_column(value: exp.Expr | None = None) -> exp.Expr:
    """A relation without columns still has rows, each with some `value`."""
    return with_alias(value or exp.Literal.number("1"), "nothing")
