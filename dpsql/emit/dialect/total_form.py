"""Statements over released rows that no released number makes fail."""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.dialect.nodes import ExactAggregate, ExactWindow


def in_total_form(tree: exp.Expr) -> exp.Expr:
    """`tree`, whose aggregates and windows can't raise, whatever rows they are of."""
    for exact in tree.find_all(ExactAggregate, ExactWindow):
        exact.set("is_total", True)
    return tree
