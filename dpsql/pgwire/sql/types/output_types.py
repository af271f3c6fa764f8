"""Types of an answer's columns that PostgreSQL tells apart and the pipeline doesn't."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
    (o.INT2, Kind.NUMERIC): o.NUMERIC,
    (o.INT4, Kind.NUMERIC): o.NUMERIC,
    (o.INT8, Kind.NUMERIC): o.NUMERIC,
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
                typing.of(_item(item)) if isinstance(item.unalias(), _LISTS) else kind
                for item, kind in zip(tree.expressions, kinds, strict=True)
            ]
    except Missing:
        return None
    return tuple(kinds)


def _item(node: exp.Expr) -> exp.Expr:
    expression = node.unalias()
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
        else replace(column, oid=_OTHERWISE.get((column.oid, kind), column.oid))
        for column, kind in zip(columns, kinds, strict=True)
    )
