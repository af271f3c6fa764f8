"""What to write instead, where a refusal says so: the statement corrected, ready to be sent."""

from __future__ import annotations

import re
from typing import Final

from dpsql.bind.syntax.correction import corrected
from dpsql.errors import Error

_QUERY: Final = re.compile(r"(?:^|\s)(SELECT [^…]+)$")


def proposal(error: Error, sql: str) -> str | None:
    """`sql` with what its refusal says to write, or the query that the hint has; None without.

    Only what can be sent as it is: a hint with an … leaves something to be decided.
    """
    whole = corrected(sql, error)
    if whole is not None:
        return whole.strip() + ";"
    query = _QUERY.search(error.hint)
    return None if query is None else query[1].strip() + ";"
