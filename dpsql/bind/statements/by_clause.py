"""BY in statements of dpsql's own, which are bound as queries that GROUP BY it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.bind.syntax.parse import CLOSING, OPENING
from dpsql.errors import Error, Span

GROUP: Final = "GROUP "
"""What a query's text has before the statement's BY."""


def by_clauses(words: list[Token]) -> list[Token]:
    """Each BY of a statement outside of parentheses; GROUP BY and its like are one word."""
    depth, clauses = 0, []
    for word in words:
        depth += (word.token_type in OPENING) - (word.token_type in CLOSING)
        # A text or a quoted name may say the same.
        if depth == 0 and word.token_type is TokenType.VAR and word.text.casefold() == "by":
            clauses.append(word)
    return clauses


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
    start, end = (x if x <= by else max(by, x - len(GROUP)) for x in (at.start, at.end))
    return Span(start, end)
