"""Expressions of ours over parts of the user's statement, before they are bound."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sqlglot import exp, parse_one


@cache
def _tree(text: str) -> exp.Expr:
    """The expression `text`; its places are nowhere in a user's statement, so it has none."""
    tree = parse_one(text, dialect="duckdb")
    for node in tree.walk():
        node.meta.clear()
    return tree


def names(text: str) -> frozenset[str]:
    """The columns of `text`."""
    return frozenset(column.name for column in _tree(text).find_all(exp.Column))


def instantiate(text: str, arguments: Mapping[str, exp.Expr]) -> exp.Expr:
    """The expression `text` with copies of what is `arguments` in the place of its columns."""
    return _tree(text).transform(
        lambda node: arguments[node.name].copy() if isinstance(node, exp.Column) else node
    )
