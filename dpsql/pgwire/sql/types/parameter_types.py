"""The types of parameters, from the expressions around them: clients need them to pack values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from dpsql.pgwire.codec import oid as o
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.schema.model import Schema
from dpsql.schema.sql_type import parse_type

_OIDS: Final = {"oid": o.OID, "_oid": o.array_of(o.OID)}
"""The types of OIDs and of their arrays, which the engine doesn't have."""
_COMPARED = (
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.Like,
    exp.ILike,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Mod,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
)


_ARGUMENTS: Final[dict[type[exp.Expr], dict[str, int]]] = {
    exp.Round: {"decimals": o.INT4},
    exp.Trunc: {"decimals": o.INT4},
    exp.SplitPart: {"part_index": o.INT4},
    exp.Left: {"expression": o.INT4},
    exp.Right: {"expression": o.INT4},
    exp.Pad: {"expression": o.INT4},
    exp.Repeat: {"times": o.INT4},
    exp.Chr: {"expressions": o.INT4},
    exp.Ntile: {"this": o.INT4},
    exp.Lag: {"offset": o.INT4},
    exp.Lead: {"offset": o.INT4},
    exp.WidthBucket: {"min_value": o.FLOAT8, "max_value": o.FLOAT8, "num_buckets": o.INT4},
    exp.PercentileCont: {"this": o.FLOAT8},
    exp.PercentileDisc: {"this": o.FLOAT8},
    exp.UnixToTime: {"this": o.FLOAT8},
    exp.Abs: {"this": o.FLOAT8},
}
"""Types of arguments, where one function or PostgreSQL's preferred one takes them, by their names
in the parser's nodes.
"""

_ALIKE: Final = (exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least)
"""Functions whose arguments have one type."""

_OWN: Final = {
    exp.DataType.Type.INTERVAL: o.INTERVAL,
    exp.DataType.Type.TIME: o.TIME,
    exp.DataType.Type.VARBINARY: o.BYTEA,
}
"""Types that no column of a schema has."""


def parameter_types(tree: exp.Expr | None, oids: Sequence[int], schema: Schema) -> tuple[int, ...]:
    """OIDs of all parameters of `tree`: the declared `oids`, where 0 is replaced by inference.

    A parameter whose type can't be inferred is a text.
    """
    uses: dict[int, list[exp.Expr]] = {}
    for node in [] if tree is None else find_all(tree, exp.Parameter, exp.Placeholder):
        if node.name.isdigit() and 0 < int(node.name) <= 0xFFFF:
            uses.setdefault(int(node.name), []).append(node)
    known = _columns(schema, tree) if uses else {}
    for alias in [] if tree is None else list(find_all(tree, exp.Alias))[::-1]:
        known.setdefault(alias.alias.casefold(), _type_of(alias.this, known))
    types = []
    for number in range(1, max([len(oids), *uses]) + 1):
        declared = oids[number - 1] if number <= len(oids) else 0
        if declared in {0, o.UNKNOWN}:
            inferred = (_context_type(node, known) for node in uses.get(number, ()))
            declared = next((oid for oid in inferred if oid), o.TEXT)
        types.append(declared)
    return tuple(types)


def _columns(schema: Schema, tree: exp.Expr | None) -> dict[str, int]:
    """OIDs by the names of columns in `tree`, whatever table has a column of that name."""
    nodes = [] if tree is None else find_all(tree, exp.Column)
    named = {column.name.casefold() for column in nodes}
    return {
        folded: o.oid_of(column.type)
        for table in schema.visible_tables.values()
        for column in table.columns.values()
        if (folded := column.name.casefold()) in named
    }


def _context_type(node: exp.Expr, columns: Mapping[str, int]) -> int:
    """The OID that the operator or clause around a parameter requires, 0 if it takes any type."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.Neg | exp.Tuple):
        if isinstance(parent, exp.Tuple) and isinstance(parent.parent, _COMPARED):
            return _compared_type(node, parent, columns)
        node, parent = parent, parent.parent
    match parent:
        case exp.If(parent=exp.Case()) if node.arg_key == "true":
            return _arm_type(node, parent.parent, columns)
        case exp.Case() if node.arg_key == "default":
            return _arm_type(node, parent, columns)
        case exp.Pow():
            other = parent.expression if parent.this is node else parent.this
            return o.NUMERIC if _type_of(other, columns) == o.NUMERIC else o.FLOAT8
        case exp.Anonymous() if parent.name.lower() == "make_date":
            return o.INT4
        case _ if isinstance(parent, _ALIKE):
            return _operand_type(node, parent, columns)
        case exp.Func() if type(parent) in _ARGUMENTS:
            return _ARGUMENTS[type(parent)].get(node.arg_key or "", 0)
        case exp.Cast():
            return of_type(parent.to)
        case exp.Limit() | exp.Offset():
            return o.INT8
        case exp.Any() | exp.All() if isinstance(parent.parent, exp.EQ | exp.NEQ):
            return o.array_of(_type_of(parent.parent.this, columns))
        case exp.Anonymous() if parent.name.lower() == "all" and isinstance(parent.parent, exp.NEQ):
            return o.array_of(_type_of(parent.parent.this, columns))
        case exp.Between() | exp.In() | exp.Any():
            return (
                _type_of(parent.this, columns)
                if parent.this is not node
                else _operand_type(node, parent, columns)
            )
        case _ if isinstance(parent, _COMPARED):
            other = parent.expression if parent.this is node else parent.this
            oid = _type_of(other, columns)
            # Only lengths of time are added to moments, and of moments one is taken from another.
            is_moment = oid in {o.TIMESTAMP, o.TIMESTAMPTZ}
            return o.INTERVAL if is_moment and isinstance(parent, exp.Add) else oid
        case _:
            return 0


def _compared_type(node: exp.Expr, row: exp.Tuple, columns: Mapping[str, int]) -> int:
    """The type of the value that a row's item is compared with, 0 if it is no row's."""
    comparison = row.parent
    assert comparison is not None
    other = comparison.expression if comparison.this is row else comparison.this
    items = other.expressions if isinstance(other, exp.Tuple) else []
    index = node.index or 0
    return _type_of(items[index], columns) if index < len(items) else 0


def _arm_type(node: exp.Expr, case: exp.Expr | None, columns: Mapping[str, int]) -> int:
    """The type of the other arms of a CASE, 0 if none of them has a known one."""
    assert case is not None
    arms = [*(arm.args["true"] for arm in case.args["ifs"]), case.args.get("default")]
    others = (arm for arm in arms if arm is not None and arm is not node)
    return next((oid for oid in (_type_of(other, columns) for other in others) if oid), 0)


def _operand_type(node: exp.Expr, parent: exp.Expr, columns: Mapping[str, int]) -> int:
    others = (child for child in parent.iter_expressions() if child is not node)
    return next((oid for oid in (_type_of(other, columns) for other in others) if oid), 0)


def _type_of(node: exp.Expr, columns: Mapping[str, int]) -> int:
    match node:
        case exp.Column():
            return columns.get(node.name.casefold(), 0)
        case exp.Cast():
            return of_type(node.to)
        case exp.Literal() if node.is_string:
            return o.TEXT
        case exp.Literal():
            return o.INT4 if node.this.isdigit() else o.NUMERIC
        case exp.Count():
            return o.INT8
        case exp.Avg() | exp.Extract() | exp.Stddev():
            return o.FLOAT8
        case exp.TimestampTrunc() | exp.DateTrunc():
            oid = _type_of(node.this, columns)
            return o.TIMESTAMPTZ if oid == o.DATE else oid or o.TIMESTAMP
        case exp.CurrentTimestamp():
            return o.TIMESTAMPTZ
        case exp.CurrentDate():
            return o.DATE
        case (
            exp.Neg() | exp.Paren() | exp.Sum() | exp.Min() | exp.Max() | exp.Abs() | exp.Coalesce()
        ):
            return _type_of(node.this, columns)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            return _type_of(node.this, columns) or _type_of(node.expression, columns)
        case exp.Lower() | exp.Upper() | exp.Concat() | exp.DPipe() | exp.Substring():
            return o.TEXT
        case _:
            return 0


def of_type(kind: exp.DataType) -> int:
    """The OID of a type as a statement writes it."""
    if kind.this == exp.DataType.Type.ARRAY:
        inner = of_type(kind.expressions[0]) if kind.expressions else o.TEXT
        return o.array_of(inner)
    if kind.this in {exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMESTAMPLTZ}:
        return o.TIMESTAMPTZ
    if kind.this in _OWN:
        return _OWN[kind.this]
    if (oid := _OIDS.get(kind.sql("postgres").lower())) is not None:
        return oid
    parsed = parse_type(kind.sql("duckdb"))
    return o.TEXT if parsed is None else o.oid_of(parsed)
