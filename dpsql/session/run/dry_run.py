"""What stands above a statement's releases is tried on no rows before anything is charged.

All that the binder accepts is meant to be answered. Where it errs, the engine says so of tables
that are empty, and nobody has paid; what only some values could make fail has to be total.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import pyarrow as pa

from dpsql.plan.output_columns import output_columns
from dpsql.release.columns.arrow import arrow_type
from dpsql.schema.sql_type import HUGEINT, SqlType
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.run.finishing.finishing_text import FinishingText
from dpsql.session.run.finishing.public_tables import scans_above_releases


def no_rows(compiled: CompiledStatement, text: FinishingText) -> dict[str, pa.Table]:
    """The tables that `text` makes the answer of `compiled` of, without their rows."""
    released = {release.name: _released(release) for release in compiled.releases}
    tables = compiled.finishing_tables(released)
    read: dict[str, dict[str, SqlType]] = {}
    for scan in scans_above_releases(text.plan):
        # Two may read different columns of one table.
        columns = {column.name: column.type for column in scan.columns}
        read.setdefault(scan.table.engine_name, {}).update(columns)
    return tables | {name: _empty(columns.items()) for name, columns in read.items()}


def _released(release: CompiledRelease) -> pa.Table:
    known = {f"c{column.id}": column.type for column in output_columns(release.release)}
    # What is beside the columns are integers, but for what nothing here reads.
    return _empty((name, known.get(name, HUGEINT)) for name in release.columns)


@lru_cache(maxsize=256)
def _no_values(kind: SqlType) -> pa.Array:
    return pa.array([], arrow_type(kind))


def _empty(columns: Iterable[tuple[str, SqlType]]) -> pa.Table:
    arrays = {name: _no_values(kind) for name, kind in columns}
    return pa.table(arrays or {"nothing": pa.array([], pa.int32())})
