"""Rows of a table, all of some units, are counted, put in the order of the file, and written.

They are in memory meanwhile: as they were fetched, and column after column in their new order. What
would be joins and sorts of wide rows is a sort of integers for each column that rows are counted
by, and one permutation of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from numpy.typing import NDArray
from sqlglot import exp

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar import unit_sums
from dpsql.engine.sidecar.compression import column_definitions
from dpsql.engine.sidecar.row_columns import (
    COUNT_CAP,
    MONTH_KINDS,
    OUT_OF_RANGE,
    ROW_NUMBER,
    UNIT_COLUMN,
    UNIT_ROW_COUNT,
    SidecarTable,
    distinct_count_column,
    first_row_column,
    group_rank_column,
    out_of_range_column,
    value_count_column,
)
from dpsql.engine.sidecar.value_counts import (
    Flags,
    Indices,
    UnitBlocks,
    ValueCounts,
    capped,
    value_counts,
)

_FETCHED: Final = "rows with units"
_ORDERED: Final = "rows in order"

_FAITHFUL: Final = frozenset(
    [
        *("BOOLEAN", "DATE", "DOUBLE", "FLOAT", "TIMESTAMP", "VARCHAR"),
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    ]
)
"""Types whose values come back from Arrow as they were; so do decimals. Others are sent as texts:
integers of 128 bits would be decimals, and UHUGEINT has more values than those."""

_HASH: Final = "hash"
"""DuckDB's function by whose value of unit, value and salt a unit's values have their places."""

_BATCH: Final = 122_880
"""Rows that one thread writes at a time: as many as DuckDB has in a group of rows."""

_POOL: Final = pa.system_memory_pool()
"""What large arrays are made in. Arrow's own pool gives memory back at once and asks for it anew,
which takes twice the time of all that is done with them."""

_SAMPLED: Final = 50_000
_FEW: Final = 1_000
"""Texts with so few values among the rows that are sampled are held as numbers of their values."""


class Targets(Struct, frozen=True):
    """The tables of a sidecar that `rows` and `units` are written to; `adds` to what they have."""

    rows: exp.Table
    units: exp.Table
    adds: bool


def write_rows(
    connection: duckdb.DuckDBPyConnection,
    contents: SidecarTable,
    targets: Targets,
    salt: str,
    chosen: str,
) -> None:
    """Write what a sidecar has of the units that `chosen` tells, an SQL condition on rows.

    It takes all rows of these units, or none. The tables are created, unless rows are added.
    """
    types = _described(connection, contents.rows)
    fetched = connection.sql(_fetched(contents, types, salt, chosen)).to_arrow_table()
    columns = dict(zip(fetched.column_names, map(_held, fetched.columns), strict=True))
    del fetched
    ordered = _ordered(connection, contents, columns)
    connection.register(_ORDERED, pa.Table.from_batches(ordered.to_batches(_BATCH), ordered.schema))
    filled = [(targets.rows, _of_rows(contents, types))]
    if contents.unit_sum_columns is not None:
        filled.append((targets.units, _of_units(contents, types)))
    for table, select in filled:
        name = table.sql("duckdb")
        if not targets.adds:
            definitions = column_definitions(contents, _described(connection, select), ordered)
            connection.execute(f"CREATE TABLE {name} ({definitions})")
        connection.execute(f"INSERT INTO {name} {select}")
    connection.unregister(_ORDERED)


def _described(connection: duckdb.DuckDBPyConnection, select: str) -> dict[str, str]:
    """The types of the columns of `select`, by name."""
    described = connection.execute(f"DESCRIBE {select}").fetchall()
    return {str(name): str(kind) for name, kind, *_ in described}


def _fetched(contents: SidecarTable, types: Mapping[str, str], salt: str, chosen: str) -> str:
    """The SELECT of the rows of units, and of a hash by which their values have their places."""
    items = [
        quoted(name) if _is_faithful(kind) else f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}"
        for name, kind in types.items()
    ]
    secret = exp.Literal.string(salt).sql("duckdb")
    counted_by = {c: quoted(c) for c in contents.group_count_columns} | dict(contents.months)
    items += [
        f"{_HASH}({quoted(UNIT_COLUMN)}, {value}, {secret}) AS {quoted(group_rank_column(name))}"
        for name, value in counted_by.items()
    ]
    items += [f"{month} AS {quoted(name)}" for name, month in contents.months]
    # A subquery, so that conditions and hashes read columns and not items of their names.
    rows = f"(SELECT * FROM ({contents.rows}) WHERE {quoted(UNIT_COLUMN)} IS NOT NULL AND {chosen})"  # noqa: S608
    return f"SELECT {', '.join(items)} FROM {rows} AS t"  # noqa: S608


def _is_faithful(kind: str) -> bool:
    return kind in _FAITHFUL or kind.startswith("DECIMAL(")


def _held(column: pa.ChunkedArray) -> pa.Array:
    """`column` in one piece, and as numbers of its values where it is of texts with few of them."""
    whole = column.combine_chunks(_POOL)
    is_text = pa.types.is_string(whole.type) or pa.types.is_large_string(whole.type)
    if is_text and len(whole.slice(0, _SAMPLED).unique()) <= _FEW:
        return pc.dictionary_encode(whole, memory_pool=_POOL)
    return whole


def _ordered(
    connection: duckdb.DuckDBPyConnection, contents: SidecarTable, columns: dict[str, pa.Array]
) -> pa.Table:
    """The rows in their order, with their numbers and with counts; takes `columns` away."""
    blocks = UnitBlocks.of(_unit_numbers(columns[UNIT_COLUMN]))
    months = [name for name, _ in contents.months]
    counted_by = (*contents.group_count_columns, *months)
    counts = {c: _counts(connection, blocks, c, columns) for c in counted_by}
    for name in months:
        del columns[name]
    over = blocks.sizes > contents.max_rows
    for counted in counts.values():
        over |= counted.max_rows > contents.max_rows_per_value
    order = np.lexsort((blocks.sizes, over))  # of units, and of their numbers where these agree
    sizes = blocks.sizes[order]
    moved = np.repeat(blocks.starts[order] - (np.cumsum(sizes) - sizes), sizes)
    moved += np.arange(len(moved))
    rows = pa.array(blocks.rows[moved])
    # One after the other, so that no more than one column is there twice.
    ordered = {name: pc.take(columns.pop(name), rows, memory_pool=_POOL) for name in list(columns)}
    ordered[ROW_NUMBER] = pa.array(np.arange(len(moved)))
    ordered[UNIT_ROW_COUNT] = pa.array(np.repeat(capped(sizes), sizes))
    for c in contents.group_count_columns:
        counted = counts.pop(c)
        for name, values in (
            (value_count_column(c), counted.rows),
            (group_rank_column(c), counted.rank),
            (distinct_count_column(c), counted.values),
            (first_row_column(c), counted.first),
        ):
            ordered[name] = pa.array(values[moved])
    for c in months:
        counted = counts.pop(c)
        ordered[value_count_column(c)] = pa.array(counted.rows[moved])
        ordered[group_rank_column(c)] = pa.array(counted.rank[moved])
    return pa.table(ordered)


def _unit_numbers(units: pa.Array) -> Indices:
    """Numbers from 0 on of the units, in their order.

    Units are integers, uuids or texts, since a schema takes no others: two are equal where their
    bytes are. Floats raise ValueError: 0 and -0 are one unit to SQL, and would be two here, each
    within limits that they pass together.
    """
    if pa.types.is_floating(units.type):
        raise ValueError("a float identifies no unit")
    encoded = units if pa.types.is_dictionary(units.type) else units.dictionary_encode()
    numbers = np.empty(len(encoded.dictionary), dtype=np.int64)
    numbers[pc.array_sort_indices(encoded.dictionary)] = np.arange(len(numbers))
    number_of_row: Indices = numbers[encoded.indices.to_numpy()]
    return number_of_row


def _counts(
    connection: duckdb.DuckDBPyConnection,
    blocks: UnitBlocks,
    column: str,
    columns: dict[str, pa.Array],
) -> ValueCounts:
    """What is counted by `column`, whose hashes are taken away."""
    hashes, values = columns.pop(group_rank_column(column)), columns[column]
    counts = value_counts(blocks, hashes.to_numpy(), lambda one, other: _same(values, one, other))
    if counts is None:
        ranks = _ranks(connection, columns[UNIT_COLUMN], hashes, values)
        counts = value_counts(blocks, ranks, lambda one, _: np.ones(len(one), dtype=bool))
    assert counts is not None
    return counts


def _same(values: pa.Array, one: Indices, other: Indices) -> Flags:
    """Whether values are the same, NULL being one; NaN is taken to be another than NaN."""
    compared = values.indices if pa.types.is_dictionary(values.type) else values
    left, right = (pc.take(compared, pa.array(rows)) for rows in (one, other))
    equal = pc.fill_null(pc.equal(left, right), False)
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    same: Flags = pc.or_(equal, both_null).to_numpy(zero_copy_only=False)
    return same


def _ranks(
    connection: duckdb.DuckDBPyConnection, units: pa.Array, hashes: pa.Array, values: pa.Array
) -> NDArray[np.uint64]:
    """Numbers that tell the values of a unit apart, in the order of hashes: two have had one."""
    numbers = pa.array(np.arange(len(units)))
    table = pa.table({"unit": units, "hash": hashes, "value": values, "number": numbers})
    connection.register(_FETCHED, table)
    rank = "dense_rank() OVER (PARTITION BY unit ORDER BY hash, value)"
    select = f"SELECT number, {rank} AS rank FROM {quoted(_FETCHED)}"  # noqa: S608
    ranked = connection.sql(select).to_arrow_table()
    connection.unregister(_FETCHED)
    ranks = np.empty(len(units), dtype=np.uint64)
    ranks[ranked["number"].to_numpy()] = ranked["rank"].to_numpy()
    # The first 32 of 64 bits, so that the number of a unit has room before it.
    return ranks << np.uint64(32)


def _of_rows(contents: SidecarTable, types: Mapping[str, str]) -> str:
    """The SELECT of the columns of the sidecar's table of rows."""
    items = [f"t.{quoted(name)}" for name in (*types, UNIT_ROW_COUNT)]
    items += [f"b.{quoted(out_of_range_column(c))}" for c, _ in contents.range_checked_columns]
    if contents.lent_unit_column is not None:
        items.append(f"{quoted(UNIT_COLUMN)} AS {quoted(contents.lent_unit_column)}")
    kinds = (value_count_column, group_rank_column, distinct_count_column, first_row_column)
    items += [quoted(kind(c)) for c in contents.group_count_columns for kind in kinds]
    items += [quoted(kind(c)) for c, _ in contents.months for kind in MONTH_KINDS]
    rows = f"{_typed(types)} AS t CROSS JOIN {quoted(OUT_OF_RANGE)} AS b"
    return f"SELECT {', '.join(items)} FROM {rows}"  # noqa: S608


def _of_units(contents: SidecarTable, types: Mapping[str, str]) -> str:
    """The SELECT of the columns of the sidecar's table of units, in the order of their rows."""
    summed, unit, rows = (
        contents.unit_sum_columns or (),
        quoted(UNIT_COLUMN),
        quoted(UNIT_ROW_COUNT),
    )
    first = f"min({quoted(ROW_NUMBER)}) AS {quoted(ROW_NUMBER)}"
    sums = ", ".join((unit, f"count(*) AS {rows}", first, *unit_sums.sums(summed)))
    capped_rows = f"CAST(least({rows}, {COUNT_CAP}) AS USMALLINT) AS {rows}"
    named = f"{unit} AS {quoted(contents.unit_column)}"
    items = ", ".join((named, unit, capped_rows, *unit_sums.narrowed(summed)))
    each = f"(SELECT {sums} FROM {_typed(types)} AS t GROUP BY {unit})"  # noqa: S608
    return f"SELECT {items} FROM {each} AS u ORDER BY {quoted(ROW_NUMBER)}"  # noqa: S608


def _typed(types: Mapping[str, str]) -> str:
    """The rows in order, their columns as they were."""
    cast = ", ".join(
        f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}" for name, kind in types.items()
    )
    return f"(SELECT * REPLACE ({cast}) FROM {quoted(_ORDERED)})"  # noqa: S608
