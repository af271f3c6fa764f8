"""EXTRACT, to_char() and intervals as PostgreSQL has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused, Span
from dpsql.pgwire.sql.interval_literal import lengths
from dpsql.pgwire.sql.semantics.to_char import written_moment
from dpsql.pgwire.sql.tree_search import constant_text, find_all
from dpsql.pgwire.sql.types.expression_types import Typing
from dpsql.pgwire.sql.types.pg_type import NUMBERS, TIMESTAMPS

Edit = tuple[exp.Expr, Callable[[], exp.Expr]]

_MOMENTS: Final = frozenset({"statement_timestamp", "clock_timestamp"})
_SECONDS: Final = re.compile(r"(?:s|secs?|seconds?|ms|msecs?|milliseconds?)$", re.IGNORECASE)


def name_moments(tree: exp.Expr) -> None:
    """Call statement_timestamp() and clock_timestamp() now(), in place: a statement is a moment."""
    for node in list(find_all(tree, exp.Anonymous)):
        if node.name.lower() in _MOMENTS and not node.expressions:
            node.replace(exp.CurrentTimestamp())


def check_lengths(words: list[Token]) -> None:
    """Refuse an interval that isn't written as numbers with their units."""
    for index, constants in lengths(words):
        if constants is None:
            word = words[index]
            raise Refused(
                "a length of time has numbers with their units here",
                at=Span(word.start, word.end + 1),
                hint="write INTERVAL '1 day 2 hours', or INTERVAL 'P1DT2H'",
            )


def check_arguments(tree: exp.Expr) -> None:
    """Refuse arguments of which the parser makes words: of make_interval() and date_bin()."""
    for node in find_all(tree, exp.MakeInterval, exp.DateBin):
        if isinstance(node, exp.DateBin):
            if isinstance(node.args.get("unit"), exp.Var):
                raise Refused(
                    "date_bin() begins at a constant here",
                    at=span(node),
                    hint="write date_bin(INTERVAL '15 minutes', x, TIMESTAMP '2000-01-01')",
                )
        elif node.find(exp.Column, exp.Parameter, exp.Placeholder, exp.Cast, exp.Neg):
            raise Refused(
                "make_interval() takes plain constants here",
                at=span(node),
                hint="write the product: x * INTERVAL '1 day'",
            )


def moment_edits(tree: exp.Expr, typing: Typing) -> list[Edit]:
    """Replacements of to_char() of moments, and of EXTRACT of seconds, which have a fraction."""
    edits: list[Edit] = []
    for node in find_all(tree, exp.Anonymous, exp.Extract):
        if isinstance(node, exp.Extract):
            if _SECONDS.match(node.this.name):
                edits.append((node, partial(_seconds, node)))
        elif node.name.lower() == "to_char" and len(node.expressions) == 2:
            moment, template = node.expressions
            kind = typing.of(moment)
            if kind not in TIMESTAMPS and kind not in NUMBERS:
                raise Refused(
                    "to_char() writes dates, timestamps and numbers here",
                    at=span(node),
                    hint="name its type: to_char(x::numeric, '999.99')",
                )
            written = constant_text(template)
            if written is None:
                raise Refused(
                    "to_char()'s pattern is a constant here",
                    at=span(node),
                    hint="write to_char(moment, 'YYYY-MM')",
                )
            if kind in TIMESTAMPS:
                edits.append((node, partial(_text, node, written)))
    return edits


def _text(node: exp.Expr, template: str) -> exp.Expr:
    return written_moment(node.expressions[0], template, span(node))


def _seconds(node: exp.Expr) -> exp.Expr:
    """EXTRACT of seconds or milliseconds with their fraction, exact to the microsecond."""
    thousand = node.this.name.lower().startswith("m")
    whole = exp.Extract(this=exp.var("microsecond"), expression=node.expression)
    scale = 3 if thousand else 6
    by = exp.Literal.number("0." + "0" * (scale - 1) + "1")
    return exp.paren(exp.Mul(this=whole, expression=by))
