"""Expressions of ours over parts of the user's statement, before they are bound."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp, parse_one


def template(text: str) -> exp.Expr:
    """The expression `text`; its places are nowhere in a user's statement, so it has none."""
    tree = parse_one(text, dialect="duckdb")
    for node in tree.walk():
        node.meta.clear()
    return tree


def filled(tree: exp.Expr, given: Mapping[str, exp.Expr]) -> exp.Expr:
    """A copy of `tree` with copies of what is `given` in the place of its columns."""
    return tree.transform(
        lambda node: given[node.name].copy() if isinstance(node, exp.Column) else node
    )
