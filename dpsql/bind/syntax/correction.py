"""A refused statement with what its refusal says to write instead."""

from __future__ import annotations

from dpsql.bind.syntax.parse import CLOSING, OPENING, tokens
from dpsql.errors import Error


def corrected(sql: str, error: Error) -> str | None:
    """`sql` with the error's fix in the place that it is for; None if there is none."""
    if not error.fix or error.at is None:
        return None
    # The place of `sum(x)` begins with its name, and ends with its last name: x.
    end, depth = error.at.end, 0
    for token in tokens(sql):
        if token.start >= error.at.start and (token.start < end or depth > 0):
            depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
            end = max(end, token.end + 1)
    return sql[: error.at.start] + error.fix + sql[end:]
