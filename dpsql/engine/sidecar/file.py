"""A file with what every statement needs again of the source: each row's unit, rows in its order.

It enforces two things, and no limit: each row stands beside the unit that the source's keys lead
to, and rows without one are left out. Beside that it counts each unit's rows (`beside`), and has
their sums (`unit_sums`). It is used only where the `stamp` in it says that it was made of this very
version of the source under this very schema, and only if nobody else could write it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.atomic_file import unfinished
from dpsql.engine.duckdb.catalog import attach, catalog
from dpsql.engine.duckdb.lockdown import configure
from dpsql.engine.duckdb.table_view import create_view_sql
from dpsql.engine.fingerprint import Identity, identity
from dpsql.engine.sidecar import contents
from dpsql.engine.sidecar.contents import ROW_SCHEMA, SIDECAR, UNIT_SCHEMA
from dpsql.engine.sidecar.row_columns import SidecarTable, statements
from dpsql.engine.source import DuckDBSource
from dpsql.errors import SourceFault

_AT_ONCE: Final = 8_000_000
"""Rows that are counted and sorted at a time. TPC-H's 60 million lines at once filled a disk with
60 GB of what was spilled; so many of them take some 6 GB of memory."""

_MAGIC: Final = b"DUCK"


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The file, and the stamp that it has to have."""

    path: str
    stamp: str


def attach_sidecar(connection: duckdb.DuckDBPyConnection, sidecar: Sidecar) -> frozenset[str]:
    """Name the tables that can be read from `sidecar`: none if it isn't what it has to be."""
    if not _is_ours(sidecar.path):
        return frozenset()
    path = exp.Literal.string(sidecar.path).sql("duckdb")
    with suppress(duckdb.Error):
        connection.execute(f'ATTACH {path} AS "{SIDECAR}" (READ_ONLY, TYPE duckdb)')
        found = contents.read(connection, sidecar.stamp)
        if found and all(contents.holds(connection, counts) for counts in found):
            return frozenset(counts.table for counts in found)
    with suppress(duckdb.Error):
        connection.execute(f'DETACH "{SIDECAR}"')
    return frozenset()


def _is_ours(path: str) -> bool:
    """A file that its owner alone may read or write, and no log that would change it."""
    with suppress(OSError):
        found = os.lstat(path)
        return (
            stat.S_ISREG(found.st_mode)
            and found.st_uid == os.geteuid()
            and not found.st_mode & 0o077
            and not os.path.lexists(f"{path}.wal")
        )
    return False


def write_sidecar(
    source: DuckDBSource,
    sidecar: Sidecar,
    tables: Sequence[SidecarTable],
    salt: str,
    before: Identity,
    step: Callable[[str], None],
) -> None:
    """Replace the file by one with `tables`; `step` is told what is being done.

    Whole or not at all, and readable by its owner only, as is what sorting spills meanwhile. `salt`
    is fresh and secret; it is not kept. Refused unless the source is as it was `before`, when its
    keys were verified: lines of an order that has come twice since would be there twice.
    """
    target = Path(sidecar.path)
    _check_replaceable(target)
    with unfinished(target) as folder:
        made = folder / "made"
        finished = False
        with (
            suppress(duckdb.Error),  # what it says is made of rows
            _opened(source, made, str(folder)) as connection,
        ):
            fill(connection, sidecar.stamp, tables, salt, step)
            finished = True
        if not finished or Path(f"{made}.wal").exists():
            raise SourceFault(
                "the source can't be prepared",
                hint="try dpsql check on it, and see whether the disk of the ledger is full",
            )
        made.chmod(0o600)
        with made.open("rb") as stream:
            os.fsync(stream.fileno())
        if identity(source) != before:
            raise SourceFault("the source has changed meanwhile", hint="prepare it again")
        _check_replaceable(target)
        made.replace(target)


def _check_replaceable(target: Path) -> None:
    """Refuse to overwrite what isn't a sidecar: a name may be somebody's ledger or database."""
    if not os.path.lexists(target):
        return
    with suppress(OSError, duckdb.Error):
        with target.open("rb") as stream:
            is_database = target.is_file() and stream.read(12)[8:] == _MAGIC
        if is_database:
            with duckdb.connect(str(target), read_only=True) as connection:
                connection.execute('SELECT stamp FROM main."made of" LIMIT 1')
                return
    raise SourceFault(
        f"{target} is there, and dpsql prepare didn't write it",
        hint="move it away, or name another ledger",
    )


def fill(
    connection: duckdb.DuckDBPyConnection,
    stamp: str,
    tables: Sequence[SidecarTable],
    salt: str,
    step: Callable[[str], None],
) -> None:
    """Make `tables` in the database that is attached as `SIDECAR`.

    Refused where one doesn't come to hold each row with a unit, and each unit, once.
    """
    connection.execute(f'CREATE SCHEMA "{SIDECAR}".{UNIT_SCHEMA}')
    found = []
    for table in tables:
        made, units = (
            exp.table_(table.name, db=group, catalog=SIDECAR, quoted=True)
            for group in (ROW_SCHEMA, UNIT_SCHEMA)
        )
        parts = _parts(connection, table.name)
        for part in range(parts):
            shown = "" if parts == 1 else f", part {part + 1} of {parts}"
            step(f"counting and sorting the rows of {table.name}{shown}")
            for statement in statements(table, made, units, salt, part, parts):
                connection.execute(statement)
        counts = contents.counted(connection, table)
        if not contents.holds(connection, counts):
            raise SourceFault(
                f"{table.name} can't be prepared: its rows would not be there once each",
                hint="run dpsql check on the schema, and prepare it again",
            )
        found.append(counts)
    step("writing the file")
    # Last: a file without it is none.
    contents.write(connection, stamp, found)
    connection.execute(f'CHECKPOINT "{SIDECAR}"')


def _parts(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    name = exp.to_identifier(table, quoted=True).sql("duckdb")
    counted = f"SELECT greatest(1, ceil(count(*) / {_AT_ONCE}))::INTEGER FROM {name}"  # noqa: S608
    ((parts,),) = connection.execute(counted).fetchall()
    return int(parts)


@contextmanager
def _opened(source: DuckDBSource, file: Path, folder: str) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as connection:
        configure(connection)
        attach(connection, source)
        found = catalog(connection, source)
        for table in source.tables:
            connection.execute(create_view_sql(table, dict(found[table.name])).sql("duckdb"))
        spilled = exp.Literal.string(folder).sql("duckdb")
        connection.execute("RESET GLOBAL max_temp_directory_size")
        connection.execute(f"SET GLOBAL temp_directory = {spilled}")
        path = exp.Literal.string(str(file)).sql("duckdb")
        connection.execute(f'ATTACH {path} AS "{SIDECAR}" (TYPE duckdb)')
        yield connection
        connection.execute(f'DETACH "{SIDECAR}"')
