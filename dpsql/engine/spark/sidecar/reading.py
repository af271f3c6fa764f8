"""Views of a sidecar's tables in a session, where these are what was written.

Each is asked for anew in each snapshot: who owns them may drop or alter them between two. What
isn't as it was written is no fault, since a statement has another way, over the source's own
tables; which way is taken never depends on rows.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Final

from dpsql.engine.digest import Digest
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.source import ServerTable
from dpsql.engine.spark.session import SparkServerSession
from dpsql.engine.spark.sidecar.columns import UNIT, stored_columns, stored_view_items
from dpsql.engine.spark.sidecar.record import (
    RecordedTable,
    files_digest,
    located,
    read_record,
)
from dpsql.engine.spark.tables import PROVIDER, TYPE, fact, quoted, spark_type
from dpsql.engine.supported import prepared_name
from dpsql.errors import ExecutionFailed, SourceFault

_LOG: Final = logging.getLogger("dpsql.engine")

_NO_COLUMN: Final = ("", "")
"""What ends the columns where a table is described, unless they are of partitions."""


def define_stored(
    session: SparkServerSession, sidecar: ServerSidecar, tables: Collection[ServerTable]
) -> Mapping[str, Digest] | None:
    """Let the names of `prepared_name` mean what is stored of `tables`, in this session.

    Returns a digest of the files of each, by those names; None if any isn't what was written.
    """
    try:
        recorded = read_record(session, sidecar.space, sidecar.stamp)
        return {
            prepared_name(table.name): _defined(session, sidecar, table, recorded.get(table.name))
            for table in tables
        }
    except SourceFault as fault:
        _LOG.warning("what was prepared isn't read: %s", fault.message)
    except ExecutionFailed:
        _LOG.warning("what was prepared isn't read: its files can't be listed")
    return None


def usable_tables(
    session: SparkServerSession, sidecar: ServerSidecar, tables: Collection[ServerTable]
) -> frozenset[str]:
    """The names of those `tables` that can be read from the sidecar now."""
    return frozenset(
        table.name for table in tables if define_stored(session, sidecar, [table]) is not None
    )


def _defined(
    session: SparkServerSession,
    sidecar: ServerSidecar,
    table: ServerTable,
    recorded: RecordedTable | None,
) -> Digest:
    entry = sidecar.table(table.name)
    if entry is None or recorded is None:
        raise _replaced(sidecar)
    at, view = located(sidecar.space, recorded.relation), prepared_name(table.name)
    session.define(view, at, stored_view_items(table, entry))
    columns = [(c.stored_as, spark_type(c.kind)) for c in stored_columns(table, entry)]
    # The view is of the table as it was a moment ago: its files tell whether that was this one.
    is_as_written = is_bucketed(session.described(at.name), columns, recorded.buckets)
    files = files_digest(session, view)
    if not is_as_written or files != recorded.files:
        raise _replaced(sidecar)
    return files


def is_bucketed(facts: list[tuple[str, str]], columns: list[tuple[str, str]], buckets: int) -> bool:
    """Whether it is a table of these columns and so many buckets, and no view of one."""
    return (
        facts[: len(columns) + 1] == [*columns, _NO_COLUMN]
        and fact(facts, TYPE) == "MANAGED"
        and fact(facts, PROVIDER).lower() == "parquet"
        and fact(facts, "Num Buckets") == str(buckets)
        and fact(facts, "Bucket Columns") == f"[{quoted(UNIT)}]"
    )


def _replaced(sidecar: ServerSidecar) -> SourceFault:
    return SourceFault(
        f"the database {sidecar.space} isn't what dpsql prepare wrote of this version",
        hint="run dpsql prepare again",
    )
