"""The keys of groups as Arrow columns: of all cells of enumerated domains, or of the engine's rows.

Cells of several domains have one number; no key is ever a Python value of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.engine.raw import IntegerColumns
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.cell_list import CellList
from dpsql.plan.bounded_release.engine_query import DomainTable, EngineQuery
from dpsql.privacy.domain import Value
from dpsql.release.columns.arrow import arrow_array, arrow_type, canonical
from dpsql.schema.sql_type import Integer, SqlType

Keys = tuple[pa.Array, ...]
Indices = NDArray[np.int64]

_SMALL: Final = 1_000
"""Up to so many keys are sorted here: to import pyarrow's functions takes 50 ms."""

_LONGEST: Final = 2**18
"""Cells of the longest lists whose keys are kept, each list with its own."""

_MAX_LONG: Final = 2
"""How many of these lists: some 20 MB each."""


def domain_table(domain: DomainTable) -> pa.Table:
    """A key domain as a table for the engine; integers that Arrow has no type for become texts.

    Of few cells, and of one list, it is the same table each time.
    """
    if len(domain.cells) <= _SMALL:
        return _small_table(domain)
    return (_long_table if len(domain.cells) <= _LONGEST else _table_of)(*_by_list(domain))


def _domain_table(domain: DomainTable) -> pa.Table:
    numbers = pa.array(range(len(domain.cells)), pa.int64())
    columns = [
        pa.array([None if v is None else str(v) for v in values], pa.string())
        if isinstance(kind, Integer) and kind.bits == 128
        else arrow_array(values, kind)
        for values, kind in _values(domain)
    ]
    return pa.table([numbers, *columns], names=["cell", *_names(domain)])


def number_of_cells(query: EngineQuery) -> int:
    """The number of combinations of all domains' cells; 1 if there are no domains."""
    return math.prod(len(domain.cells) for domain in query.domains)


class ListedKeys(Struct, frozen=True, eq=False):
    """The keys of all cells of the enumerated domains, each once by the number of its cell.

    `order` has these numbers in the order of the keys, and `ordered` the keys in that order.
    """

    by_number: Keys
    order: Indices
    ordered: Keys


_ByList = tuple[tuple[SqlType, ...], CellList]
"""A domain, whatever its name, by which list of cells it has."""


def _by_list(domain: DomainTable) -> _ByList:
    return domain.types, CellList(domain.cells)


def _table_of(types: tuple[SqlType, ...], cells: CellList) -> pa.Table:
    return _domain_table(DomainTable("", types, cells.cells))


def every_key(bounded: BoundedRelease, query: EngineQuery) -> Keys:
    """The key of each cell of the enumerated domains, in the order of cell numbers."""
    return (_few_keys if _are_few(query) else _every_key)(_positions(bounded), query.domains)


def listed_keys(bounded: BoundedRelease, query: EngineQuery) -> ListedKeys:
    """The keys of a release that shows cells of its domains, `ordered` as its rows are."""
    if _are_few(query):
        return _few_listed(_positions(bounded), query.domains)
    listed = _long_listed if number_of_cells(query) <= _LONGEST else _listed_of
    return listed(_positions(bounded), tuple(map(_by_list, query.domains)))


Positions = tuple[tuple[int, ...], ...]
"""For each domain of keys which of a release's keys it lists."""


def _positions(bounded: BoundedRelease) -> Positions:
    return tuple(domain.keys for domain in bounded.contributions.domains)


def _are_few(query: EngineQuery) -> bool:
    return number_of_cells(query) <= _SMALL


def _every_key(positions: Positions, domains: tuple[DomainTable, ...]) -> Keys:
    rest = np.arange(math.prod(len(domain.cells) for domain in domains), dtype=np.int64)
    parts = []
    for domain in reversed(domains):
        parts.append(rest % len(domain.cells))
        rest = rest // len(domain.cells)
    return _in_order(positions, domains, parts[::-1], ())


def _listed(positions: Positions, domains: tuple[DomainTable, ...]) -> ListedKeys:
    keys, count = _every_key(positions, domains), math.prod(len(d.cells) for d in domains)
    order = ascending(keys, np.arange(count, dtype=np.int64))
    order.setflags(write=False)
    return ListedKeys(keys, order, tuple(take(key, order) for key in keys))


def _listed_of(positions: Positions, domains: tuple[_ByList, ...]) -> ListedKeys:
    tables = tuple(DomainTable("", types, cells.cells) for types, cells in domains)
    return _listed(positions, tables)


# A schema's listed keys are those of many statements.
_small_table = lru_cache(maxsize=64)(_domain_table)
_few_keys = lru_cache(maxsize=64)(_every_key)
_few_listed = lru_cache(maxsize=64)(_listed)

# So are the rows of a public table: the list is one object for all statements of one proof.
_long_table = lru_cache(maxsize=_MAX_LONG)(_table_of)
_long_listed = lru_cache(maxsize=_MAX_LONG)(_listed_of)


def keys_of_rows(raw: pa.Table, bounded: BoundedRelease, query: EngineQuery) -> Keys:
    """The key of each row of `raw`, a result of the engine."""
    unlisted = bounded.contributions.unlisted_keys
    count = len(query.domains)
    others = tuple(
        _typed(raw.column(f"g{count + n}"), key.expression.type) for n, key in enumerate(unlisted)
    )
    parts = [raw.column(f"g{n}").to_numpy() for n in range(count)]
    return _in_order(_positions(bounded), query.domains, parts, others)


def cells_of(raw: pa.Table, query: EngineQuery) -> Indices:
    """The number of each row's cell among all combinations of the domains' cells."""
    cells = np.zeros(raw.num_rows, dtype=np.int64)
    for n, domain in enumerate(query.domains):
        cells = cells * len(domain.cells) + raw.column(f"g{n}").to_numpy()
    return cells


def few_cells_of(raw: IntegerColumns, query: EngineQuery) -> list[int]:
    """What `cells_of` are, of few rows of one column at least."""
    cells = [0] * len(next(iter(raw.values())))
    for n, domain in enumerate(query.domains):
        pairs = zip(cells, raw[f"g{n}"], strict=True)
        # No row is without a cell; if one were, there would be too few here for its columns.
        cells = [cell * len(domain.cells) + own for cell, own in pairs if own is not None]
    return cells


def ascending(keys: Keys, subset: Indices) -> Indices:
    """The indices of `subset` in the order of their keys, NULL last."""
    if not keys:
        return subset
    rows = [take(key, subset) for key in keys]
    if subset.size <= _SMALL:
        values = list(map(_nulls_last, rows))
        listed = values[0] if len(values) == 1 else list(zip(*values, strict=True))
        return subset[sorted(range(subset.size), key=listed.__getitem__)]
    import pyarrow.compute as pc  # noqa: PLC0415 - see _SMALL

    table = pa.table(rows, names=_numbered(len(keys)))
    # NULLs are last unless something else is asked for.
    order = pc.sort_indices(table, sort_keys=[(n, "ascending") for n in table.column_names])
    return np.asarray(subset[order.to_numpy()])


def ascending_cells(domain: DomainTable) -> Indices:
    """The numbers of a domain's cells in ascending order, NULL last."""
    return ascending(tuple(_columns(domain)), np.arange(len(domain.cells), dtype=np.int64))


def take(column: pa.Array, indices: Indices) -> pa.Array:
    """The values of `column` at `indices`, in the order of `indices`."""
    if max(len(column), indices.size) > _SMALL:
        return column.take(pa.array(indices))
    values = column.to_pylist()
    return pa.array([values[index] for index in indices], column.type)


def _nulls_last(column: pa.Array) -> list[Any]:
    """What the values of `column` are sorted by: themselves, if none is NULL."""
    values: list[Any] = column.to_pylist()
    if not column.null_count:
        return values
    return [(value is None, 0 if value is None else value) for value in values]


def _in_order(
    positions: Positions, domains: Sequence[DomainTable], parts: list[Indices], unlisted: Keys
) -> Keys:
    """Columns in the order of the keys, made of cells of the domains and of unlisted keys."""
    by_index: dict[int, pa.Array] = {}
    for indices, domain, numbers in zip(positions, domains, parts, strict=True):
        for index, column in zip(indices, _columns(domain), strict=True):
            by_index[index] = take(column, numbers)
    count = len(by_index) + len(unlisted)
    rest = [index for index in range(count) if index not in by_index]
    by_index |= dict(zip(rest, unlisted, strict=True))
    return tuple(by_index[index] for index in range(len(by_index)))


def _typed(column: pa.ChunkedArray, kind: SqlType) -> pa.Array:
    if column.type == arrow_type(kind):
        return column.combine_chunks()
    return arrow_array(map(canonical, column.to_pylist()), kind)


def _columns(domain: DomainTable) -> list[pa.Array]:
    return [arrow_array(values, kind) for values, kind in _values(domain)]


def _values(domain: DomainTable) -> Iterator[tuple[list[Value | None], SqlType]]:
    """The values of each key of a domain, cell by cell, and the key's type."""
    for n, kind in enumerate(domain.types):
        yield [cell[n] for cell in domain.cells], kind


def _names(domain: DomainTable) -> list[str]:
    return [f"k{n}" for n in range(len(domain.types))]


def _numbered(count: int) -> list[str]:
    return [str(n) for n in range(count)]
