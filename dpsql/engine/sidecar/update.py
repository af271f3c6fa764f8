"""A sidecar of the data before becomes one of the data now: units with other rows are made anew.

What is stored of a unit is a function of its own rows and of the salt, which stays. So the rows of
units that changed are taken out, and put in again as they are now, behind all others. The file has
the rows, counts, ranks and sums of one that is made afresh with the same salt, in another order; a
comparison of numbers of rows decides, as there, whether it may be used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import duckdb
from msgspec import Struct

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar import unit_digests
from dpsql.engine.sidecar.contents import SIDECAR
from dpsql.engine.sidecar.range_check import of_whole_table, stored_of_whole_table
from dpsql.engine.sidecar.row_columns import SidecarTable
from dpsql.structs import replace

_ORIGIN: Final = f'"{SIDECAR}".main."made by"'

_PART_RENEWED: Final = 4
"""Of so many rows one, at most, is put in by updates: it is out of order, and the room of what was
taken out is lost. Then all rows are made afresh."""


class Origin(Struct, frozen=True):
    """How a sidecar is made, whatever the data are: its `form`, its `salt`, and what was updated.

    The form is a digest of the schema and of what writes the file. The salt is kept: which file is
    made afresh depends on how many rows have changed, and a unit's ranks must not. Whoever can read
    it can read all rows. Updates have put in `renewed` rows since it was made afresh.
    """

    form: str
    salt: str
    renewed: int = 0


def write_origin(connection: duckdb.DuckDBPyConnection, origin: Origin) -> None:
    """Store in the sidecar how it is made."""
    connection.execute(
        f"CREATE OR REPLACE TABLE {_ORIGIN} (form VARCHAR, salt VARCHAR, renewed BIGINT)"
    )
    values = [origin.form, origin.salt, origin.renewed]
    connection.execute(f"INSERT INTO {_ORIGIN} VALUES (?, ?, ?)", values)  # noqa: S608


def read_origin(connection: duckdb.DuckDBPyConnection) -> Origin:
    """How the sidecar that is attached was made; an error of DuckDB's if it doesn't say."""
    ((form, salt, renewed),) = connection.execute(f"FROM {_ORIGIN}").fetchall()
    return Origin(form, salt, renewed)


def update(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[SidecarTable],
    origin: Origin,
    step: Callable[[str], None],
) -> Origin | None:
    """Make `tables` of the attached sidecar those of the source; None if too much has changed.

    That is so, too, where memory has no room for the rows that would be made anew, or where of a
    whole table something else is to be said. Whether it is changes no row: the file is then made
    afresh with the same salt.
    """
    # Not before: it imports all of pyarrow's functions, which takes a tenth of a start.
    from dpsql.engine.sidecar.row_parts import rows_at_once  # noqa: PLC0415

    every = sum(_number(connection, _count(table)) for table in tables)
    renewed = origin.renewed
    for table in tables:
        step(f"comparing the rows of {table.name}")
        for statement in unit_digests.find_changed(table, origin.salt):
            connection.execute(statement)
        changed = _number(connection, unit_digests.CHANGED_ROWS)
        renewed += changed
        if changed > rows_at_once(connection, table.name) or renewed * _PART_RENEWED > every:
            return None
        known = stored_of_whole_table(connection, table)
        stays_empty = known is None and not changed
        if not stays_empty and known != of_whole_table(connection, table):
            return None
        step(f"counting and sorting the rows of {table.name} that are new")
        _renew(connection, table, origin.salt)
    return replace(origin, renewed=renewed)


def _renew(connection: duckdb.DuckDBPyConnection, table: SidecarTable, salt: str) -> None:
    """Make the units anew that have changed."""
    # Not before: it imports all of pyarrow's functions, which takes a tenth of a start.
    from dpsql.engine.sidecar.ordering.row_order import Targets, write_rows  # noqa: PLC0415
    from dpsql.engine.sidecar.row_parts import rows_of  # noqa: PLC0415

    targets = Targets.of(table.name)
    units = [] if table.unit_sum_columns is None else [targets.units]
    for each in [targets.rows, targets.digests, *units]:
        sql = f"DELETE FROM {each.sql('duckdb')} WHERE {unit_digests.HAS_CHANGED}"  # noqa: S608
        connection.execute(sql)
    renewed = rows_of(connection, table, unit_digests.HAS_CHANGED)
    write_rows(connection, table, targets, salt, renewed)
    for statement in unit_digests.FORGET_CHANGED:
        connection.execute(statement)


def _count(table: SidecarTable) -> str:
    """The statement that counts the rows of the source's table, which reads none of them."""
    return f"SELECT count(*) FROM {quoted(table.name)}"  # noqa: S608


def _number(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    ((number,),) = connection.execute(sql).fetchall()
    return int(number)
