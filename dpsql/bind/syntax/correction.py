"""A refused statement, corrected as its error says."""

from __future__ import annotations

from dpsql.bind.syntax.parse import CLOSING, OPENING, tokens
from dpsql.errors import Error


def corrected(sql: str, error: Error) -> str | None:
    """`sql` with the error's fix at the error's place; None if the error has no fix."""
    if not error.fix or error.at is None:
        return None
    # An error's place ends with the last name in it: that of `sum(x)` with x, before the bracket.
    end, depth = error.at.end, 0
    for token in tokens(sql):
        if token.start >= error.at.start and (token.start < end or depth > 0):
            depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
            end = max(end, token.end + 1)
    return sql[: error.at.start] + error.fix + sql[end:]
