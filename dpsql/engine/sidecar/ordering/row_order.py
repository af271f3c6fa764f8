"""Rows of a table, all of some units, are counted, put in the order of the file, and written.

They are in memory meanwhile: as they were read, and column after column in their new order. What
would be joins and sorts of wide rows is a sort of integers for each column that rows are counted
by, and one permutation of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from sqlglot import exp

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar import unit_digests, unit_sums
from dpsql.engine.sidecar.contents import ROW_SCHEMA, SIDECAR, UNIT_SCHEMA
from dpsql.engine.sidecar.ordering.compression import column_definitions, computed_columns
from dpsql.engine.sidecar.ordering.few_values import is_of_few, ranks_of_few
from dpsql.engine.sidecar.ordering.packed_counts import Indices, Numbers, ValueCounts, capped
from dpsql.engine.sidecar.ordering.row_hashes import RowHashes
from dpsql.engine.sidecar.ordering.value_counts import (
    Flags,
    UnitBlocks,
    in_order_of_units,
    value_counts,
)
from dpsql.engine.sidecar.range_check import WholeTable
from dpsql.engine.sidecar.row_columns import (
    COUNT,
    COUNT_CAP,
    COUNT_KINDS,
    MONTH_KINDS,
    ROW_NUMBER,
    UNIT_COLUMN,
    UNIT_ROW_COUNT,
    SidecarTable,
)
from dpsql.engine.sidecar.row_parts import Columns, described, typed
from dpsql.engine.sidecar.side_by_side import side_by_side

_ORDERED: Final = "rows in order"

_DIGESTS: Final = "digests of units"

_BATCH: Final = 122_880
"""Rows that one thread writes at a time: as many as DuckDB has in a group of rows."""

_POOL: Final = pa.system_memory_pool()
"""What large arrays are made in, as where rows are read."""


class Targets(Struct, frozen=True):
    """The tables of a sidecar that rows, units and their digests are written to.

    They are created if it is known what to say of the `whole_table`; else rows are added to them.
    """

    rows: exp.Table
    units: exp.Table
    digests: exp.Table
    whole_table: WholeTable | None = None

    @classmethod
    def of(cls, name: str, whole_table: WholeTable | None = None) -> Targets:
        """The tables of what a sidecar has of the table of this `name`."""
        rows, units = (
            exp.table_(name, db=space, catalog=SIDECAR, quoted=True)
            for space in (ROW_SCHEMA, UNIT_SCHEMA)
        )
        return cls(rows, units, unit_digests.stored_digests(name), whole_table)


def write_rows(
    connection: duckdb.DuckDBPyConnection,
    contents: SidecarTable,
    targets: Targets,
    salt: str,
    columns: Columns,
) -> None:
    """Write what a sidecar has of units whose rows `columns` has, which are taken away.

    These are all rows of each of the units.
    """
    types = described(connection, contents.rows)
    ordered, digests = _ordered(RowHashes(connection, types, salt), contents, columns)
    connection.register(_ORDERED, pa.Table.from_batches(ordered.to_batches(_BATCH), ordered.schema))
    connection.register(_DIGESTS, digests)
    flags = targets.whole_table
    computed = [] if flags is None else computed_columns(contents, types, flags)
    unit_type = {UNIT_COLUMN: types[UNIT_COLUMN]}
    filled = [
        (targets.rows, _of_rows(contents, types), computed),
        (targets.digests, f"FROM {typed(unit_type, _DIGESTS)}", []),
    ]
    if contents.unit_sum_columns is not None:
        filled.append((targets.units, _of_units(contents, types), []))
    for table, select, others in filled:
        name = table.sql("duckdb")
        if flags is not None:
            stored = column_definitions(contents, described(connection, select), ordered)
            connection.execute(f"CREATE TABLE {name} ({', '.join([*stored, *others])})")
        connection.execute(f"INSERT INTO {name} {select}")
    connection.unregister(_ORDERED)
    connection.unregister(_DIGESTS)


def _ordered(
    hashes: RowHashes, contents: SidecarTable, columns: Columns
) -> tuple[pa.Table, pa.Table]:
    """The rows in their order, with their numbers and with counts; takes `columns` away.

    Besides, the digests of their units.
    """
    months = [name for name, _ in contents.months]
    counted_by = (*contents.group_count_columns, *months)
    unit_numbers = _unit_numbers(columns[UNIT_COLUMN])
    units = int(unit_numbers.max(initial=-1)) + 1
    each_hashed = [c for c in counted_by if not is_of_few(columns[c], units)]
    row_hashes, of_values = hashes.of_rows(contents.compared, each_hashed, columns)
    blocks = _in_own_order(hashes, contents, columns, unit_numbers, row_hashes)
    digests = _digests(blocks, row_hashes, columns[UNIT_COLUMN])
    counted = side_by_side(
        lambda c: _counts(hashes, blocks, c, columns, of_values.pop(c, None)), counted_by
    )
    counts = dict(zip(counted_by, counted, strict=True))
    for name in months:
        del columns[name]
    over = blocks.sizes > contents.max_rows
    for of_column in counted:
        over |= of_column.max_rows > contents.max_rows_per_value
    order = np.lexsort((blocks.sizes, over))  # of units, and of their numbers where these agree
    sizes, moved = blocks.sizes[order], in_order_of_units(blocks.sizes, order)
    _move(columns, blocks.rows[moved])
    ordered = dict(columns)
    columns.clear()
    ordered[ROW_NUMBER] = pa.array(np.arange(len(moved)))
    ordered[UNIT_ROW_COUNT] = pa.array(np.repeat(capped(sizes), sizes))
    kinds: dict[str, tuple[Callable[[str], str], ...]] = {}
    kinds |= dict.fromkeys(contents.group_count_columns, COUNT_KINDS)
    kinds |= dict.fromkeys(months, MONTH_KINDS)
    split = side_by_side(lambda c: counts.pop(c).of_rows(moved, len(kinds[c])), tuple(kinds))
    for (c, names), each in zip(kinds.items(), split, strict=True):
        for name_of, of_rows in zip(names, each, strict=True):
            ordered[name_of(c)] = pa.array(of_rows)
    return pa.table(ordered), digests


def _digests(blocks: UnitBlocks, row_hashes: Numbers, units: pa.Array) -> pa.Table:
    """Of each unit the number of its rows, and the sum of their hashes as it has 64 bits."""
    first_rows = blocks.first_rows
    sums = np.add.reduceat(row_hashes[blocks.rows], first_rows) if len(first_rows) else row_hashes
    return pa.table(
        {
            UNIT_COLUMN: pc.take(units, pa.array(blocks.rows[first_rows])),
            unit_digests.ROW_COUNT: pa.array(blocks.sizes.astype(np.uint64)),
            unit_digests.DIGEST: pa.array(sums),
        }
    )


def _move(columns: Columns, rows: Indices) -> None:
    """Take `rows` of each column, of which but few are there twice meanwhile."""
    indices = pa.array(rows)

    def move(name: str) -> None:
        columns[name] = pc.take(columns[name], indices, memory_pool=_POOL)

    side_by_side(move, tuple(columns))


def _unit_numbers(units: pa.Array) -> Indices:
    """Numbers from 0 on of the units, in their order.

    Units are integers, uuids or texts, since a schema takes no others: two are equal where their
    bytes are. Floats raise ValueError: 0 and -0 are one unit to SQL, and would be two here, each
    within limits that they pass together.
    """
    if pa.types.is_floating(units.type):
        raise ValueError("a float identifies no unit")
    is_encoded = pa.types.is_dictionary(units.type)
    encoded = units if is_encoded else pc.dictionary_encode(units, memory_pool=_POOL)
    numbers = np.empty(len(encoded.dictionary), dtype=np.int64)
    numbers[pc.array_sort_indices(encoded.dictionary)] = np.arange(len(numbers))
    number_of_row: Indices = numbers[encoded.indices.to_numpy()]
    return number_of_row


def _in_own_order(
    hashes: RowHashes,
    contents: SidecarTable,
    columns: Columns,
    unit_numbers: Indices,
    row_hashes: Numbers,
) -> UnitBlocks:
    """Each unit's rows in an order by a hash of each, in which only those that are alike are tied.

    Others of one hash would be in an order that rows of other units decide, too.
    """
    blocks, tied = UnitBlocks.of(unit_numbers, row_hashes)
    one, other = blocks.rows[tied - 1], blocks.rows[tied]
    if not all(_same(column, one, other).all() for column in columns.values()):
        blocks, _ = UnitBlocks.of(unit_numbers, hashes.row_ranks(contents.compared, columns))
    return blocks


def _counts(
    hashes: RowHashes,
    blocks: UnitBlocks,
    column: str,
    columns: Columns,
    of_rows: Numbers | None,
) -> ValueCounts:
    """What is counted by `column`, by the hashes `of_rows` of its values if it has them."""
    units, values = columns[UNIT_COLUMN], columns[column]
    counts = None
    ranks = None if of_rows is not None else ranks_of_few(hashes, blocks, column, columns)
    if ranks is None:
        numbers = hashes.of(units, column, values) if of_rows is None else of_rows
        counts = value_counts(
            blocks,
            numbers[blocks.rows],
            lambda one, other: _same(values, blocks.rows[one], blocks.rows[other]),
        )
        if counts is None:
            ranks = hashes.ranks(units, values, numbers)[blocks.rows]
    if ranks is not None:
        # A unit has no more values than rows: of such numbers nothing is cut off.
        counts = value_counts(blocks, ranks, None)
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


def _of_rows(contents: SidecarTable, types: Mapping[str, str]) -> str:
    """The SELECT of the columns that are stored of the sidecar's table of rows."""
    items = [f"t.{quoted(name)}" for name in types]
    items += [f"CAST({quoted(name)} AS {COUNT}) AS {quoted(name)}" for name in contents.counts]
    return f"SELECT {', '.join(items)} FROM {typed(types, _ORDERED)} AS t"  # noqa: S608


def _of_units(contents: SidecarTable, types: Mapping[str, str]) -> str:
    """The SELECT of the columns of the sidecar's table of units, in the order of their rows."""
    summed, unit, rows = (
        contents.unit_sum_columns or (),
        quoted(UNIT_COLUMN),
        quoted(UNIT_ROW_COUNT),
    )
    first = f"min({quoted(ROW_NUMBER)}) AS {quoted(ROW_NUMBER)}"
    sums = ", ".join((unit, f"count(*) AS {rows}", first, *unit_sums.sums(summed)))
    capped_rows = f"CAST(least({rows}, {COUNT_CAP}) AS {unit_sums.COUNT}) AS {rows}"
    named = f"{unit} AS {quoted(contents.unit_column)}"
    items = ", ".join((named, unit, capped_rows, *unit_sums.narrowed(summed)))
    each = f"(SELECT {sums} FROM {typed(types, _ORDERED)} AS t GROUP BY {unit})"  # noqa: S608
    return f"SELECT {items} FROM {each} AS u ORDER BY {quoted(ROW_NUMBER)}"  # noqa: S608
