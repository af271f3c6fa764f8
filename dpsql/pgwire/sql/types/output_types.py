"""Types of an answer's columns that PostgreSQL tells apart and the pipeline doesn't."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from dpsql.pgwire.codec import oid as o
from dpsql.pgwire.codec.oid import Column
from dpsql.pgwire.sql.types.column_source import Missing
from dpsql.pgwire.sql.types.expression_types import Typing
from dpsql.pgwire.sql.types.pg_type import Kind
from dpsql.schema.model import Schema

_LISTS: Final = (exp.Array, exp.ArrayAgg)
_OTHERWISE: Final = {
    (o.TIMESTAMP, Kind.TIMESTAMPTZ): o.TIMESTAMPTZ,
    (o.array_of(o.TIMESTAMP), Kind.TIMESTAMPTZ): o.array_of(o.TIMESTAMPTZ),
    (o.FLOAT8, Kind.NUMERIC): o.NUMERIC,
    (o.array_of(o.FLOAT8), Kind.NUMERIC): o.array_of(o.NUMERIC),
    (o.NUMERIC, Kind.INT8): o.INT8,
    (o.NUMERIC, Kind.INT4): o.INT4,
    (o.TEXT, Kind.VARCHAR): o.VARCHAR,
    (o.TEXT, Kind.BPCHAR): o.BPCHAR,
    (o.TEXT, Kind.REGTYPE): o.REGTYPE,
    **{
        (own, kind): oid
        for own in (o.INT2, o.INT4, o.INT8)
        for kind, oid in (
            (Kind.INT2, o.INT2),
            (Kind.INT4, o.INT4),
            (Kind.INT8, o.INT8),
            (Kind.FLOAT8, o.FLOAT8),
            (Kind.NUMERIC, o.NUMERIC),
        )
    },
}
"""The OID that is sent, by the OID of the pipeline's type and PostgreSQL's type of the column."""


def output_kinds(
    tree: exp.Query, schema: Schema, types: Sequence[int]
) -> tuple[Kind | None, ...] | None:
    """PostgreSQL's types of the columns of `tree`, of an array the type of its items.

    A None stands for a type that can't be derived, and None alone for columns that can't be.
    """
    typing = Typing(schema, types)
    try:
        outputs = typing.sources.outputs(tree)
        if outputs is None:
            return None
        kinds = [kind for _, kind in outputs]
        if isinstance(tree, exp.Select) and len(tree.expressions) == len(kinds):
            kinds = [
                _sent(item.unalias(), kind, typing)
                for item, kind in zip(tree.expressions, kinds, strict=True)
            ]
    except Missing:
        return None
    return tuple(kinds)


def _sent(node: exp.Expr, kind: Kind | None, typing: Typing) -> Kind | None:
    match node:
        case exp.Cast(to=exp.DataType(this=exp.DataType.Type.VARCHAR)):
            return Kind.VARCHAR
        case exp.Cast(to=exp.DataType(this=exp.DataType.Type.CHAR | exp.DataType.Type.BPCHAR)):
            return Kind.BPCHAR
        case exp.Anonymous() if node.name.lower() == "pg_typeof":
            return Kind.REGTYPE
        case _ if isinstance(node, _LISTS):
            return typing.of(_item(node))
        case _:
            return kind


def _item(expression: exp.Expr) -> exp.Expr:
    return expression.expressions[0] if expression.expressions else expression.this or exp.Null()


def declared(
    columns: tuple[Column, ...], kinds: Sequence[Kind | None] | None
) -> tuple[Column, ...]:
    """`columns` with PostgreSQL's types `kinds`, as which the pipeline's values can be sent."""
    if kinds is None or len(kinds) != len(columns):
        return columns
    return tuple(
        column
        if kind is None
        else _with_oid(column, _OTHERWISE.get((column.oid, kind), column.oid))
        for column, kind in zip(columns, kinds, strict=True)
    )


def _with_oid(column: Column, oid: int) -> Column:
    return column if oid == column.oid else Column(column.name, oid)
