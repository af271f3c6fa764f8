"""now() and its like become constants: one moment for all of a statement, the same for a minute.

Evaluated in each row they would be volatile, and to the microsecond no stored answer would ever
serve again. They are in UTC, as the engine's zone is.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from sqlglot import exp

Clock = Callable[[], dt.datetime]
"""Tells the present moment in UTC, without a zone."""

_READ = "reads the clock"

_NOW = {"now", "get_current_timestamp", "transaction_timestamp", "current_localtimestamp"}


def utc() -> dt.datetime:
    """The system's time."""
    return dt.datetime.now(dt.UTC).replace(tzinfo=None)


def constant_now(tree: exp.Query, clock: Clock = utc) -> exp.Query:
    """`tree` with the current day and the start of the current minute as constants.

    Whether it reads them is noted in its `meta`, for `reads_clock`.
    """
    now = clock().replace(second=0, microsecond=0)
    for node in list(tree.walk()):
        match node:
            case exp.CurrentDate(this=None):
                _put(node, now.date().isoformat(), "DATE")
            case exp.CurrentTimestamp(this=None) | exp.Localtimestamp(this=None):
                _put(node, now.isoformat(sep=" "), "TIMESTAMP")
            case exp.Anonymous(expressions=[]) if node.name.lower() in _NOW:
                _put(node, now.isoformat(sep=" "), "TIMESTAMP")
            case exp.Anonymous(expressions=[_]) if node.name.lower() == "age":
                node.expressions.insert(0, _constant(now.date().isoformat(), "DATE"))
            case _:
                continue
        tree.meta[_READ] = True
    return tree


def reads_clock(tree: exp.Query) -> bool:
    """Whether `constant_now` put a moment into `tree`, so that its text differs in a minute."""
    return _READ in tree.meta


def _put(node: exp.Expr, text: str, kind: str) -> None:
    constant = _constant(text, kind)
    constant.this.meta.update(node.meta)
    node.replace(constant)


def _constant(text: str, kind: str) -> exp.Cast:
    return exp.cast(exp.Literal.string(text), kind, dialect="duckdb")
