"""The texts of the nodes that servers write and mean as DuckDB does; no other is theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.expression_writer import OF_TERMS
from dpsql.emit.sql.query_writer import OF_QUERIES
from dpsql.emit.sql.writer import Writer

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
    exp.Limit,
    exp.Offset,
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
}
