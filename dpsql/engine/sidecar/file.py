"""The sidecar's file: the rows of a source, each with its unit, in the order of units.

It saves each statement the joins that find units. It enforces two facts, and no limit: each row has
the unit that the source's keys lead to, and rows without a unit are left out. It also has counts of
each unit's rows (`row_columns`) and their sums (`unit_sums`). A sidecar is used only if its `stamp`
says that it was made of this very version of the source under this very schema, and only if nobody
else could write it.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
from msgspec import Struct
from sqlglot import exp

from dpsql.engine.atomic_file import unfinished
from dpsql.engine.duckdb.catalog import attach, catalog
from dpsql.engine.duckdb.lockdown import configure
from dpsql.engine.duckdb.table_view import create_view_sql
from dpsql.engine.fingerprint import Identity, identity
from dpsql.engine.sidecar import contents, unit_digests
from dpsql.engine.sidecar.contents import SIDECAR, UNIT_SCHEMA, SidecarCounts
from dpsql.engine.sidecar.range_check import of_whole_table
from dpsql.engine.sidecar.row_columns import SidecarTable
from dpsql.engine.sidecar.update import Origin, read_origin, update, write_origin
from dpsql.engine.source import DuckDBSource
from dpsql.errors import SourceFault
from dpsql.structs import replace

_MEMORY: Final = 1_500_000_000
"""Bytes that DuckDB takes at most, beside those of the rows that are counted. Of files, it holds
what there is room for; what is joined or grouped beyond that is spilled."""

_MAGIC: Final = b"DUCK"

_FAILURES: Final = (duckdb.Error, pa.ArrowException, MemoryError, OSError)
"""What making the file may fail by; their messages may quote rows."""


class Sidecar(Struct, frozen=True):
    """The path of a sidecar, and the stamp that it must have."""

    path: str
    stamp: str


def attach_sidecar(connection: duckdb.DuckDBPyConnection, sidecar: Sidecar) -> frozenset[str]:
    """Attach `sidecar`; returns the tables that can be read from it, none if it can't be used."""
    if not _is_ours(sidecar.path):
        return frozenset()
    path = exp.Literal.string(sidecar.path).sql("duckdb")
    with suppress(duckdb.Error):
        connection.execute(f'ATTACH {path} AS "{SIDECAR}" (READ_ONLY, TYPE duckdb)')
        tables = contents.read(connection, sidecar.stamp)
        if tables and all(contents.holds(connection, counts) for counts in tables):
            return frozenset(counts.table for counts in tables)
    with suppress(duckdb.Error):
        connection.execute(f'DETACH "{SIDECAR}"')
    return frozenset()


def _is_ours(path: str) -> bool:
    """Whether it is our own file, closed to other users, with no log that would change it."""
    with suppress(OSError):
        status = os.lstat(path)
        return (
            stat.S_ISREG(status.st_mode)
            and status.st_uid == os.geteuid()
            and not status.st_mode & 0o077
            and not os.path.lexists(f"{path}.wal")
        )
    return False


def write_sidecar(
    source: DuckDBSource,
    sidecar: Sidecar,
    tables: Sequence[SidecarTable],
    origin: Origin,
    before: Identity,
    step: Callable[[str], None],
) -> None:
    """Replace the sidecar by one with `tables`; `step` is called with what is being done.

    The file is written whole or not at all, and readable by its owner only, as are files that
    sorting spills meanwhile. One of other data and the same form is updated, or made afresh with
    its salt; otherwise the salt is that of `origin`, which is fresh and secret. Raises SourceFault
    if it can't be written, or the source isn't as it was `before`, when its keys were verified: the
    lines of an order that has come twice since would be there twice.
    """
    target = Path(sidecar.path)
    _check_replaceable(target)
    previous = _origin_of_other_data(sidecar, origin.form)
    with unfinished(target) as folder:
        new_file = folder / "made"
        is_updated = False
        if previous is not None:
            # What fails here is made afresh.
            with suppress(*_FAILURES, SourceFault):
                shutil.copyfile(target, new_file)
                with _opened(source, new_file) as connection:
                    is_updated = _update(connection, sidecar.stamp, tables, previous, step)
        is_complete = is_updated and not _log_of(new_file).exists()
        if not is_complete:
            for left in (new_file, _log_of(new_file)):
                left.unlink(missing_ok=True)
            with (
                suppress(*_FAILURES),
                _opened(source, new_file) as connection,
            ):
                salt = origin.salt if previous is None else previous.salt
                fill(connection, sidecar.stamp, tables, salt, step, folder)
                _write_origin(connection, Origin(origin.form, salt))
                is_complete = True
        if not is_complete or _log_of(new_file).exists():
            raise SourceFault(
                "the source can't be prepared",
                hint="try dpsql check on it, and see whether the disk of the ledger is full",
            )
        new_file.chmod(0o600)
        with new_file.open("rb") as stream:
            os.fsync(stream.fileno())
        if identity(source) != before:
            raise SourceFault("the source has changed meanwhile", hint="prepare it again")
        _check_replaceable(target)
        new_file.replace(target)


def _log_of(file: Path) -> Path:
    """Where DuckDB keeps what isn't in `file` yet."""
    return Path(f"{file}.wal")


def _origin_of_other_data(sidecar: Sidecar, form: str) -> Origin | None:
    """How the file that is there was made; None unless it is ours, of this form and other data.

    Of the same data there is nothing to update: whoever has it made again wants it afresh.
    """
    if not _is_ours(sidecar.path):
        return None
    path = exp.Literal.string(sidecar.path).sql("duckdb")
    with suppress(duckdb.Error), duckdb.connect(":memory:") as connection:
        connection.execute(f'ATTACH {path} AS "{SIDECAR}" (READ_ONLY, TYPE duckdb)')
        origin = read_origin(connection)
        if origin.form == form and not contents.read(connection, sidecar.stamp):
            return origin
    return None


def _update(
    connection: duckdb.DuckDBPyConnection,
    stamp: str,
    tables: Sequence[SidecarTable],
    origin: Origin,
    step: Callable[[str], None],
) -> bool:
    """Whether the sidecar that is attached could be made one of the data as they are now."""
    updated = update(connection, tables, origin, step)
    if updated is None:
        return False
    write_origin(connection, updated)
    _finish(connection, stamp, [_checked(connection, table) for table in tables], step)
    return True


def _write_origin(connection: duckdb.DuckDBPyConnection, origin: Origin) -> None:
    """Store what an update needs: how the file was made."""
    write_origin(connection, origin)
    connection.execute(f'CHECKPOINT "{SIDECAR}"')


def _check_replaceable(target: Path) -> None:
    """Refuse to overwrite a file that is no sidecar: it may be somebody's ledger or database."""
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
    folder: Path | None = None,
) -> None:
    """Create `tables` in the database that is attached as `SIDECAR`.

    Rows may wait in `folder`, which nobody else can read. Raises SourceFault unless each table then
    holds each row that has a unit, and each unit, once.
    """
    # Not before: it imports all of pyarrow's functions, which takes a tenth of a start.
    from dpsql.engine.sidecar.ordering.row_order import Targets, write_rows  # noqa: PLC0415
    from dpsql.engine.sidecar.row_parts import in_parts, number_of_parts  # noqa: PLC0415

    for schema in (UNIT_SCHEMA, unit_digests.DIGEST_SCHEMA):
        connection.execute(f'CREATE SCHEMA "{SIDECAR}".{schema}')
    table_counts = []
    for table in tables:
        created = Targets.of(table.name, of_whole_table(connection, table))
        number = number_of_parts(connection, table.name)
        parts = in_parts(connection, table, number, folder)
        for part in range(number):
            shown = "" if number == 1 else f", part {part + 1} of {number}"
            step(f"counting and sorting the rows of {table.name}{shown}")
            targets = replace(created, whole_table=None) if part else created
            write_rows(connection, table, targets, salt, next(parts))
        table_counts.append(_checked(connection, table))
    _finish(connection, stamp, table_counts, step)


def _checked(connection: duckdb.DuckDBPyConnection, table: SidecarTable) -> SidecarCounts:
    """The numbers of rows of `table`; SourceFault unless the sidecar has each row once."""
    counts = contents.counted(connection, table)
    if not contents.holds(connection, counts):
        raise SourceFault(
            f"{table.name} can't be prepared: its rows would not be there once each",
            hint="run dpsql check on the schema, and prepare it again",
        )
    return counts


def _finish(
    connection: duckdb.DuckDBPyConnection,
    stamp: str,
    tables: Sequence[SidecarCounts],
    step: Callable[[str], None],
) -> None:
    step("writing the file")
    # Written last: a file without this record is no sidecar.
    contents.write(connection, stamp, tables)
    connection.execute(f'CHECKPOINT "{SIDECAR}"')


@contextmanager
def _opened(source: DuckDBSource, file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    # Not before: it imports all of pyarrow's functions, which takes a tenth of a start.
    from dpsql.engine.sidecar.row_parts import has_narrow_decimals  # noqa: PLC0415

    with duckdb.connect(":memory:") as connection:
        configure(connection)
        attach(connection, source)
        columns = catalog(connection, source)
        for table in source.tables:
            connection.execute(create_view_sql(table, dict(columns[table.name])).sql("duckdb"))
        spilled = exp.Literal.string(str(file.parent)).sql("duckdb")
        # Texts of more than 2 GB in all are one column, too.
        connection.execute("SET GLOBAL arrow_large_buffer_size = true")
        if has_narrow_decimals():
            # Else decimals are of 128 bits each while rows are in memory.
            connection.execute("SET GLOBAL arrow_output_version = '1.5'")
        limit = f"least(parse_formatted_bytes(current_setting('memory_limit')), {_MEMORY})"
        ((memory,),) = connection.execute(f"SELECT {limit}").fetchall()
        connection.execute(f"SET GLOBAL memory_limit = '{int(memory)}B'")
        connection.execute("RESET GLOBAL max_temp_directory_size")
        connection.execute(f"SET GLOBAL temp_directory = {spilled}")
        path = exp.Literal.string(str(file)).sql("duckdb")
        connection.execute(f'ATTACH {path} AS "{SIDECAR}" (TYPE duckdb)')
        yield connection
        connection.execute(f'DETACH "{SIDECAR}"')
