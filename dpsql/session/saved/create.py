"""CREATE RELEASE: a finished answer is kept under a name; which names and which answers fit."""

from __future__ import annotations

import pyarrow as pa
from msgspec import Struct

from dpsql.bind.statement import Statement
from dpsql.errors import BadName, DuplicateColumn, NameTaken, TooComplex, TypeFault
from dpsql.schema.load.identifiers import is_plain
from dpsql.schema.model import Column, Schema
from dpsql.schema.qualified_name import resolve_name
from dpsql.schema.sql_type import Array, Interval, Null
from dpsql.session.answer.answer import Answer
from dpsql.session.answer.stored_answer import to_bytes
from dpsql.session.compile.request import (
    ANSWER,
    Request,
    kind_of,
)
from dpsql.session.ladders.stored_ladders import LadderMetadata
from dpsql.session.saved.metadata import SavedReleaseMetadata, encode_metadata
from dpsql.session.saved.saved_releases import ALERT, SavedReleases
from dpsql.session.saved.table_law import TableLaw

MAX_ROWS = 1_000_000
MAX_BYTES = 16 * 2**20
MAX_COLUMNS = 200
"""What one kept table may have."""

_LONGEST_NAME = 63


class SaveRequest(Struct, frozen=True):
    """A name for an answer: `statement` is what was written, `replace` lets it take one's own.

    `content` is what is kept under it: the answer of a query, a synopsis, or a dashboard.
    """

    name: str
    statement: str
    replace: bool = False
    content: Request = ANSWER

    @property
    def kind(self) -> str:
        """What CREATE and DROP call it."""
        return kind_of(self.content)


def check_save_request(
    wanted: SaveRequest, statement: Statement, schema: Schema, saved: SavedReleases
) -> None:
    """Refuse what can't name a kept table, and columns that no table has, before any charge."""
    check_name(wanted, schema, saved)
    _check_columns(statement)


def check_name(wanted: SaveRequest, schema: Schema, saved: SavedReleases) -> None:
    """Refuse what can't name what is kept, before any charge.

    Tables replace tables, and alerts replace alerts: one in the other's place would forget, without
    a word of it, what was paid for.
    """
    name = wanted.name
    if not is_plain(name) or name.casefold().startswith("pg_"):
        raise BadName(
            f"{name[:80]} can't name a release",
            hint="use letters, digits and _, at most 63 bytes, not beginning with pg_",
        )
    if resolve_name(schema.visible_tables, [name], schema.dataset):
        raise NameTaken(f"there is a table {name} already", hint="give the release another name")
    taken_by = saved.own_kind(name)
    if taken_by is None:
        return
    may_replace = ALERT not in (taken_by, wanted.kind) or taken_by == wanted.kind
    if not (wanted.replace and may_replace):
        raise NameTaken(
            f"there is {'an' if taken_by == ALERT else 'a'} {taken_by} {name} of yours already",
            hint=f"{'CREATE OR REPLACE it, or ' * may_replace}DROP {taken_by.upper()} {name} first,"
            " or choose another name",
        )


def metadata(
    wanted: SaveRequest,
    answer: Answer,
    schema: Schema,
    version: str,
    ladders: LadderMetadata | None = None,
    law: TableLaw | None = None,
) -> str:
    """What the ledger keeps of `answer` beside its rows; of ladders and laws of noise, these."""
    types = zip(answer.names, answer.types, strict=True)
    columns = {name: Column(name, kind) for name, kind in types}
    rows, statement = answer.table.num_rows, wanted.statement
    stated = schema.version is not None
    kind = wanted.kind if ladders is None else "ladder"
    about = SavedReleaseMetadata(
        wanted.name, kind, columns, rows, statement, version, stated, ladders, law
    )
    return encode_metadata(about)


def encode(table: pa.Table) -> bytes:
    """The rows as the ledger keeps them; TooComplex if there are too many, after the charge."""
    data = to_bytes(table) if table.num_rows <= MAX_ROWS else b""
    if not data or len(data) > MAX_BYTES:
        raise TooComplex(
            f"the answer is larger than a release may be: {MAX_ROWS:,} rows and 16 MiB",
            detail="it was charged and is stored: asked again as a query, it is free",
            hint="add a LIMIT, or group by fewer keys",
        )
    return data


def _check_columns(statement: Statement) -> None:
    names, types = statement.names, [column.type for column in statement.columns]
    if len(names) > MAX_COLUMNS:
        raise TooComplex(f"a release has at most {MAX_COLUMNS} columns", hint="select fewer")
    seen: set[str] = set()
    for name, kind in zip(names, types, strict=True):
        if name.casefold() in seen:
            raise DuplicateColumn(
                f"two columns are called {name[:80]}", hint="give one of them an alias: AS total"
            )
        seen.add(name.casefold())
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            raise BadName(
                f"{name[:80]} can't name a column of a release",
                hint="give it an alias of at most 63 characters: AS total",
            )
        if isinstance(kind, Interval | Array | Null):
            raise TypeFault(
                f"column {name} has type {kind}, which no table has",
                hint="convert it: CAST(… AS VARCHAR) AS …",
            )
