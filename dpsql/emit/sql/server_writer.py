"""The texts of the nodes that servers write and mean as DuckDB does; no other is theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.expression_writer import OF_TERMS
from dpsql.emit.sql.query_writer import OF_QUERIES
from dpsql.emit.sql.writer import Write, Writer, node_args, write_list


def _binary(node: exp.Binary, write: Write) -> str:
    args = node_args(node, "this", "expression")
    return f"{write(args['this'])} {_BINARY[type(node)]} {write(args['expression'])}"


def _filter(node: exp.Filter, write: Write) -> str:
    args = node_args(node, "this", "expression")
    return f"{write(args['this'])} FILTER ({write(args['expression'])})"


def _ordered(node: exp.Ordered, write: Write) -> str:
    args = node_args(node, "this", "desc", "nulls_first")
    way, nulls = (
        ("DESC" if args.get("desc") else "ASC"),
        ("FIRST" if args.get("nulls_first") else "LAST"),
    )
    return f"{write(args['this'])} {way} NULLS {nulls}"


def _table_alias(node: exp.TableAlias, write: Write) -> str:
    args = node_args(node, "this", "columns")
    columns = args.get("columns")
    return write(args["this"]) + (f"({write_list(columns, write)})" if columns else "")


def _tuple(node: exp.Tuple, write: Write) -> str:
    return f"({write_list(node_args(node, 'expressions')['expressions'], write)})"


def _values(node: exp.Values, write: Write) -> str:
    args = node_args(node, "expressions", "alias")
    return f"(VALUES {write_list(args['expressions'], write)}) AS {write(args['alias'])}"


_BINARY: Final[Mapping[type[exp.Expr], str]] = {
    exp.Div: "/",
    exp.Mod: "%",
    exp.BitwiseAnd: "&",
    exp.DPipe: "||",
    exp.Like: "LIKE",
}

_TERMS: Final = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.And,
    exp.Or,
    exp.Column,
    exp.Boolean,
    exp.Null,
    exp.Star,
    exp.Paren,
    exp.Not,
    exp.Neg,
    exp.Is,
    exp.Between,
    exp.In,
    exp.Case,
    exp.Coalesce,
    exp.Count,
    exp.Window,
    exp.Alias,
)

_CLAUSES: Final = (
    exp.From,
    exp.Where,
    exp.Having,
    exp.Select,
    exp.With,
    exp.CTE,
    exp.Subquery,
    exp.Exists,
    exp.Table,
    exp.Join,
    exp.Group,
    exp.Order,
)

OF_SERVERS: Final[Mapping[type[exp.Expr], Writer]] = {
    **{kind: OF_TERMS[kind] for kind in _TERMS},
    **{kind: OF_QUERIES[kind] for kind in _CLAUSES},
    **dict.fromkeys(_BINARY, _binary),
    exp.Filter: _filter,
    exp.Ordered: _ordered,
    exp.TableAlias: _table_alias,
    exp.Tuple: _tuple,
    exp.Values: _values,
}
