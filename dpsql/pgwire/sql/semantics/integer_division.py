"""Divisions of integers: PostgreSQL gives 7 / 2 = 3, the pipeline 3.5.

Whether operands are integers follows from PostgreSQL's types: sum() of bigint isn't an integer, and
count() is one.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.sql.types.column_source import Missing
from dpsql.pgwire.sql.types.expression_types import Typing
from dpsql.pgwire.sql.types.pg_type import INTEGERS, Kind


def whole_divisions(tree: exp.Expr, typing: Typing) -> None:
    """Make divisions of two integers in `tree` integer divisions, in place."""
    whole = [node for node in find_all(tree, exp.Div) if _is_whole(node, typing)]
    for node in whole:
        node.replace(exp.IntDiv(this=node.this, expression=node.expression))


def _is_whole(node: exp.Div, typing: Typing) -> bool:
    try:
        kinds = {typing.of(node.this), typing.of(node.expression)}
    except Missing:
        return False
    if kinds <= INTEGERS | {Kind.UNKNOWN}:
        return True
    if None in kinds and kinds <= INTEGERS | {None, Kind.UNKNOWN}:
        raise Refused(
            "whether this division is of integers can't be told",
            at=span(node),
            hint="say what it is: a::bigint / b::bigint, or a::float8 / b",
        )
    return False


def div_quotient(node: exp.Expr, *, whole: bool) -> exp.Expr:
    """The quotient of a call of div(), without its fraction; of integers if `whole`."""
    left, right = node.expressions
    if whole:
        return exp.paren(exp.IntDiv(this=exp.paren(left), expression=exp.paren(right)))
    return exp.Trunc(this=exp.Div(this=exp.paren(left), expression=exp.paren(right)))
