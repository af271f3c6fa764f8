"""Expressions that this package writes over parts of a user's statement, before it is bound."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sqlglot import exp, parse_one


@cache
def _tree(text: str) -> exp.Expr:
    """The syntax tree of `text`, without places, which would be taken for a user's statement's."""
    tree = parse_one(text, dialect="duckdb")
    for node in tree.walk():
        node.meta.clear()
    return tree


def names(text: str) -> frozenset[str]:
    """The columns of `text`."""
    return frozenset(column.name for column in _tree(text).find_all(exp.Column))


def instantiate(text: str, arguments: Mapping[str, exp.Expr]) -> exp.Expr:
    """The expression `text`, where copies of `arguments` replace the columns of their names."""
    return _tree(text).transform(
        lambda node: arguments[node.name].copy() if isinstance(node, exp.Column) else node
    )
