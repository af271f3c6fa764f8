"""Clauses of a SELECT, set in place: sqlglot's own builders parse a join's kind each time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from sqlglot import exp

JoinKind = Literal["INNER", "CROSS", "LEFT", "FULL"]
_WORDS: Final[dict[JoinKind, dict[str, str]]] = {
    "INNER": {},
    "CROSS": {"kind": "CROSS"},
    "LEFT": {"side": "LEFT"},
    "FULL": {"side": "FULL"},
}


def select_of(items: Iterable[exp.Expr], source: exp.Expr | None = None) -> exp.Select:
    """`SELECT items FROM source`; what is given becomes a part of it."""
    clauses = {} if source is None else {"from_": exp.From(this=source)}
    return exp.Select(expressions=list(items), **clauses)


def joined(
    select: exp.Select, right: exp.Expr, kind: JoinKind, on: exp.Expr | None = None
) -> exp.Select:
    """`select` itself, with `JOIN right ON on` behind its other sources."""
    select.append("joins", exp.Join(this=right, on=on, **_WORDS[kind]))
    return select
