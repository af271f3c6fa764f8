"""CREATE RELEASE name AS query, and what every statement that keeps a table is read into."""

from __future__ import annotations

import re

from msgspec import Struct

from dpsql.dbapi.statements.assignment import Assignment
from dpsql.dbapi.statements.options import split_options
from dpsql.errors import Span, SyntaxFault
from dpsql.session.compile.request import Request
from dpsql.session.saved.create import SaveRequest
from dpsql.sqltext.tokens import Word


class CreateRelease(Struct, frozen=True):
    """CREATE RELEASE, SYNOPSIS or DASHBOARD: `sql` has blanks for the words before the query."""

    request: SaveRequest
    sql: str
    options: tuple[Assignment, ...] = ()

    @property
    def content(self) -> Request:
        """What its releases are for."""
        return self.request.content


def read_release(sql: str, first_words: list[Word]) -> CreateRelease:
    """The release that `sql` asks for; SyntaxFault if it is written otherwise."""
    replaces = first_words[1].folded == "or"
    match first_words[4 if replaces else 2 :]:
        case [name, before, *_] if before.folded == "as":
            query, options = split_options(blanked(sql, before.end))
            return CreateRelease(SaveRequest(name.value, sql.strip(), replaces), query, options)
        case _:
            raise SyntaxFault(
                "CREATE RELEASE isn't written so",
                at=Span(first_words[0].start, first_words[-1].end),
                hint="write CREATE RELEASE name AS SELECT …",
            )


def blanked(sql: str, end: int) -> str:
    """`sql` with blanks up to `end`, so that places in it stay what they are."""
    return re.sub(r"[^\n]", " ", sql[:end]) + sql[end:]
