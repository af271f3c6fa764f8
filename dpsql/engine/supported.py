"""What of a statement an engine's server computes itself, and how rows of it are asked for."""

from __future__ import annotations

import pyarrow as pa
from msgspec import Struct

from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.source import Columns


class Supported(Struct, frozen=True):
    """What a server computes, by the names of its `dialect`: nothing else is emitted for it.

    `strategies` are physical ones; `functions` and `types` are those of its SQL. Rows of a server
    that `pulls` are computed with in DuckDB where it doesn't; of another, that is refused.
    """

    dialect: str
    strategies: frozenset[str]
    functions: frozenset[str]
    types: frozenset[str]
    pulls: bool = True


class ServerSelect(Struct, frozen=True):
    """A SELECT of ours in the server's SQL, over `tables` by the names that statements use.

    `names` are all names in it, of columns among them. `columns` are the names of its rows'
    columns, in order, and the DuckDB types as which they are handed out. Rows of the `prepared`
    tables are read from `sidecar`, under the names of `prepared_name`.
    """

    sql: str
    tables: frozenset[str]
    names: frozenset[str]
    columns: Columns
    prepared: frozenset[str] = frozenset()
    sidecar: ServerSidecar | None = None


def prepared_name(table: str) -> str:
    """What statements call the rows of `table` in a sidecar; no declared name has a space."""
    return f"{table} prepared"


ServerParameter = str | tuple[str | None, ...] | pa.Table
"""A text, or an array of texts, which the statement casts; or a table."""
