"""The conjuncts of a condition, before it is bound."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The conjuncts of `condition` through parentheses, in order: its own nodes, not copies."""
    waiting = [condition]
    while waiting:
        part = waiting.pop().unnest()
        if isinstance(part, exp.And):
            waiting += [part.right, part.left]
        else:
            yield part
