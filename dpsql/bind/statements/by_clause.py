"""BY in statements of dpsql's own, which are bound as queries that GROUP BY it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.syntax.parse import CLOSING, OPENING
from dpsql.bind.syntax.placeholder import numbered
from dpsql.errors import Error, Refused, Span
from dpsql.plan.operator import Output
from dpsql.structs import replace

_GROUP: Final = "GROUP "
"""What a query's text has before the statement's BY."""

_NO_KEY: Final = (exp.Literal, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple, exp.Star)


def by_clauses(words: list[Token]) -> list[Token]:
    """Each BY of a statement outside of parentheses; GROUP BY and its like are one word."""
    depth, clauses = 0, []
    for word in words:
        depth += (word.token_type in OPENING) - (word.token_type in CLOSING)
        # A text or a quoted name may say the same.
        if depth == 0 and word.token_type is TokenType.VAR and word.text.casefold() == "by":
            clauses.append(word)
    return clauses


def grouped_query(sql: str, words: list[Token], by: Token | None) -> tuple[str, int]:
    """The query's text, SELECT in place of the statement's first two words, and where GROUP is.

    Blanks and GROUP leave all places before BY what they are; that of GROUP is in the numbered text
    of the statement, or its end where `by` is None.
    """
    head = " " * words[0].start + "SELECT" + " " * (words[1].end + 1 - words[0].start - 6)
    start = len(sql) if by is None else by.start
    text = head + sql[words[1].end + 1 : start] + ("" if by is None else _GROUP) + sql[start:]
    return text, len(numbered(sql[:start], [word for word in words if word.end < start]))


def single_key(tree: exp.Select) -> exp.Expr | None:
    """The one expression of BY; None where there is none, and for a list, sets, or a constant."""
    group = tree.args.get("group")
    if not isinstance(group, exp.Group):
        return None
    others = (value for name, value in group.args.items() if name != "expressions")
    if len(group.expressions) != 1 or any(others) or isinstance(group.expressions[0], _NO_KEY):
        return None
    key: exp.Expr = group.expressions[0]
    return key


def bind_aggregates(query: exp.Select, context: Context, unmatched: Refused) -> BoundQuery:
    """`query` as it is bound; raises `unmatched` for public rows without a private partner.

    A query of aggregates is told to FILTER these, which the statement has no place for.
    """
    try:
        return context.bind_query(query, context)
    except Refused as error:
        if "FILTER" not in error.hint:
            raise
        unmatched.at = error.at
        raise unmatched from None


@contextmanager
def error_span(by: int) -> Iterator[None]:
    """Places of errors are in the statement's text, not in the query's, which has GROUP at `by`."""
    try:
        yield
    except Error as error:
        if error.at is not None:
            error.at = span_in_statement(error.at, by)
        raise


def span_in_statement(at: Span, by: int) -> Span:
    """The place in the statement's text of a place in the query's."""
    start, end = (x if x <= by else max(by, x - len(_GROUP)) for x in (at.start, at.end))
    return Span(start, end)


def keys_in_statement(keys: Sequence[Output], by: int) -> tuple[Output, ...]:
    """`keys` of the query, with places in the statement's text for what is refused later."""
    return tuple(
        key if key.at is None else replace(key, at=span_in_statement(key.at, by)) for key in keys
    )
