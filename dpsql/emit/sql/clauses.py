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

_OF_ROWS: Final = ("from_", "joins", "where")
"""The clauses that say which rows a SELECT has, in SQL's order."""


def select_of(items: Iterable[exp.Expr], source: exp.Expr | None = None) -> exp.Select:
    """`SELECT items FROM source`; what is given becomes a part of it."""
    clauses = {} if source is None else {"from_": exp.From(this=source)}
    return exp.Select(expressions=list(items), **clauses)


def select_over(rows: exp.Select, items: Iterable[exp.Expr]) -> exp.Select:
    """`items` of the columns of `rows`, which becomes a part of it.

    A SELECT that hands columns on as they are has none of its own: its FROM has them, too, by names
    that are nobody else's, and what is left of it is which rows there are.

    SELECT c1 + 1 AS c4 FROM (SELECT c1, c2 FROM (…) AS t WHERE c2 > 7) AS t
    SELECT c1 + 1 AS c4 FROM (…) AS t WHERE c2 > 7
    """
    if not _hands_on(rows):
        return select_of(items, rows.subquery("t", copy=False))
    clauses = {name: rows.args[name] for name in _OF_ROWS if rows.args.get(name)}
    return exp.Select(expressions=list(items), **clauses)


def _hands_on(rows: exp.Select) -> bool:
    """Whether each of its columns is one of its FROM, and rows are neither grouped nor ordered."""
    known = {"expressions", *_OF_ROWS}
    return all(name in known for name, part in rows.args.items() if part) and all(
        type(item) is exp.Column and not item.table for item in rows.expressions
    )


def joined(
    select: exp.Select, right: exp.Expr, kind: JoinKind, on: exp.Expr | None = None
) -> exp.Select:
    """`select` itself, with `JOIN right ON on` behind its other sources."""
    select.append("joins", exp.Join(this=right, on=on, **_WORDS[kind]))
    return select
