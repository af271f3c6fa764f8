"""What to write instead, where a refusal says so: the statement corrected, ready to be sent."""

from __future__ import annotations

import re
from typing import Final

from dpsql.errors import Error

_MEANT: Final = re.compile(r"did you mean (\w+)\?")
_QUERY: Final = re.compile(r"(?:^|\s)(SELECT [^…]+)$")


def proposal(error: Error, sql: str) -> str | None:
    """`sql` with the name that was meant, or the query that the hint has; None if it has none.

    Only what can be sent as it is: a hint with an … leaves something to be decided.
    """
    meant = _MEANT.search(error.hint)
    if meant and error.at is not None:
        text = sql[: error.at.start] + meant[1] + sql[error.at.end :]
        return text.strip() + ";"
    query = _QUERY.search(error.hint)
    return None if query is None else query[1].strip() + ";"
