"""What a sidecar counts of a column: of each row, its unit's rows with this value, and its values.

A row's number is a hash of its unit and its value. Rows are sorted by unit and number, so that rows
of one value are neighbours. Two values of one unit may have one number: `value_counts` then counts
nothing, and asks for numbers that tell them apart. What is counted of a unit follows from its own
rows and their positions in its own order, whichever numbers it took.

A row's key for a sort is its unit, its number, and its position among its unit's rows: 64 bits in
all, so that no indices are moved beside them. What there is no room for of a number is cut off. Two
numbers of one unit may then be taken for one, and whoever can't have that sorts `exactly`. Units
are in the order of their sizes, so that those of one size are rows of a matrix, which are sorted
each by itself: of forty rows that takes a fifteenth of a sort of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.engine.sidecar.ordering.packed_counts import (
    Indices,
    Numbers,
    SortedValues,
    ValueCounts,
)
from dpsql.engine.sidecar.row_columns import COUNT_CAP

Flags = NDArray[np.bool_]
Same = Callable[[Indices, Indices], Flags]
"""Of rows on the left and on the right, whether each has the value of the one on its right."""

_AT_ONCE: Final = 100_000
"""Rows that are sorted at a time. Arrays of so many stay in the processor's caches, and their
memory is used again: of a million it takes three times as long a row."""

_RUN: Final = 64
"""So many rows a size are worth a sort of their own."""

_BITS: Final = 64

_NUMBER_BITS: Final = 16
"""Integers of so many bits numpy sorts by counting them."""


class UnitPiece(Struct, frozen=True):
    """Few units: the indices `rows` of theirs, of which unit n has `sizes[n]`, one or more.

    Of each row, `starts` has where its unit's rows begin, and `keys` its unit in the highest bits,
    and its position among that unit's rows in the `position_bits` lowest. `runs` are where rows
    begin and end that are sorted so many at a time, of which a unit's rows are all.
    """

    rows: Indices
    sizes: Indices
    starts: Indices
    keys: Numbers
    runs: tuple[tuple[int, int, int], ...]
    unit_bits: int
    position_bits: int

    @classmethod
    def of(cls, rows: Indices, sizes: Indices) -> UnitPiece:
        """The units with these rows, in their order."""
        starts = np.repeat(_starts(sizes), sizes)
        unit_bits = max(1, len(sizes).bit_length())
        positions = np.arange(len(rows)) - starts
        units = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
        keys = units << np.uint64(_BITS - unit_bits) | positions.astype(np.uint64)
        position_bits = int(sizes.max(initial=1)).bit_length()
        return cls(rows, sizes, starts, keys, _runs(sizes), unit_bits, position_bits)

    def sorted_by(self, numbers: Numbers, *, exactly: bool = False) -> tuple[Indices, Flags]:
        """The places of the rows by unit, number and position, and where another number begins."""
        if exactly:
            return self._sorted_exactly(numbers)
        room = _BITS - self.unit_bits - self.position_bits
        too_many = max(0, int(numbers.max(initial=0)).bit_length() - room)
        bits = np.uint64(self.position_bits)
        keys = numbers >> np.uint64(too_many)
        keys <<= bits
        keys |= self.keys
        for start, end, size in self.runs:
            keys[start:end].reshape(-1, size).sort(axis=1)
        order = (keys & ((np.uint64(1) << bits) - np.uint64(1))).view(np.int64)
        order += self.starts
        keys >>= bits
        return order, _changes(keys)

    def _sorted_exactly(self, numbers: Numbers) -> tuple[Indices, Flags]:
        units = self.keys >> np.uint64(_BITS - self.unit_bits)
        order: Indices = np.lexsort((numbers, units))
        return order, _changes(numbers[order]) | _changes(units)


class UnitBlocks(Struct, frozen=True):
    """Rows of one unit after the other: the n-th has `sizes[n]` of the indices `rows`, one or more.

    Units with few rows come first. Each unit's rows are in its own order. `pieces` have the same
    rows, few units each.
    """

    rows: Indices
    sizes: Indices
    pieces: tuple[UnitPiece, ...]

    @property
    def first_rows(self) -> Indices:
        """Where each unit's rows begin."""
        return _starts(self.sizes)

    @classmethod
    def of(cls, unit_of_row: Indices, numbers: Numbers) -> tuple[UnitBlocks, Indices]:
        """The blocks of rows of which each has the number of its unit, from 0 to the highest.

        Each unit's rows are in the order of their `numbers`. Those that have one number are in any
        order: besides, returns the places of all but the first of these.
        """
        sizes = np.bincount(unit_of_row)
        by_size = np.argsort(sizes, kind="stable")
        rows = _by_unit(unit_of_row)[in_order_of_units(sizes, by_size)]
        sizes = sizes[by_size]
        tied, start = [], 0
        pieces = tuple(_pieces(rows, sizes))
        for piece in pieces:
            own = numbers[piece.rows]
            order, begins = piece.sorted_by(own)
            if not begins.all():
                order, begins = piece.sorted_by(own, exactly=True)
            piece.rows[:] = piece.rows[order]
            tied.append(start + np.flatnonzero(~begins))
            start += len(order)
        return cls(rows, sizes, pieces), np.concatenate(tied)


def value_counts(blocks: UnitBlocks, numbers: Numbers, same: Same | None) -> ValueCounts | None:
    """Count by `numbers`, in the order of blocks; None if a unit has two values of one number.

    `same` is None where numbers tell values apart, and none is too high to be sorted by.
    """
    counts = np.empty(len(blocks.rows), dtype=np.uint64)
    max_rows, start = [], 0
    for piece in blocks.pieces:
        end = start + len(piece.rows)
        same_of_piece = None if same is None else _from(start, same)
        order = _by_value(piece, numbers[start:end], same_of_piece)
        if order is None:
            return None
        max_rows.append(_count(piece, *order, counts[start:end]))
        start = end
    return ValueCounts(counts, np.concatenate(max_rows))


def _from(start: int, same: Same) -> Same:
    """`same` of places behind `start`."""
    return lambda one, other: same(one + start, other + start)


def _by_value(
    piece: UnitPiece, numbers: Numbers, same: Same | None
) -> tuple[Indices, Flags] | None:
    """The places of rows by unit and value, and where values begin; None if one number has two."""
    for exactly in (False, True):
        order, begins = piece.sorted_by(numbers, exactly=exactly)
        if same is None:
            return order, begins
        again = np.flatnonzero(~begins)
        if same(order[again - 1], order[again]).all():
            return order, begins
    return None


def _count(piece: UnitPiece, order: Indices, begins: Flags, counts: Numbers) -> Indices:
    """Fill in `counts` where rows in `order` are sorted by unit and value; the rest is returned."""
    first_rows = np.flatnonzero(begins)
    rows = np.diff(first_rows, append=len(begins))
    # Sorted by unit, a unit's rows are where they were.
    first_values = np.searchsorted(first_rows, _starts(piece.sizes))
    values = np.diff(first_values, append=len(rows))
    each = SortedValues(first_rows, rows, first_values, values)
    is_short = int(piece.sizes.max(initial=0)) <= COUNT_CAP
    counts[order] = each.packed() if is_short else each.packed_and_capped()
    return np.maximum.reduceat(rows, first_values) if len(values) else values


def _pieces(rows: Indices, sizes: Indices) -> Iterator[UnitPiece]:
    """The blocks in their order, few at a time: of some `_AT_ONCE` rows, or of one unit.

    Their rows are parts of `rows` itself.
    """
    ends, first = np.cumsum(sizes), 0
    while first == 0 or first < len(ends):
        start = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, start + _AT_ONCE, side="right")))
        end = int(ends[last - 1]) if len(ends) else 0
        yield UnitPiece.of(rows[start:end], sizes[first:last])
        first = last


def _runs(sizes: Indices) -> tuple[tuple[int, int, int], ...]:
    """Where units of one size begin and end, and the size; all at once if few have one."""
    rows = int(sizes.sum())
    changes = np.flatnonzero(np.diff(sizes, prepend=0))
    if not rows:
        return ()
    if len(changes) * _RUN > rows:
        return ((0, rows, rows),)
    starts = _starts(sizes)[changes].tolist()
    return tuple(zip(starts, [*starts[1:], rows], sizes[changes].tolist(), strict=True))


def _starts(sizes: Indices) -> Indices:
    """Where the rows of each of units with these `sizes` begin, one unit after the other."""
    return np.cumsum(sizes) - sizes


def in_order_of_units(sizes: Indices, order: Indices) -> Indices:
    """The indices of rows of units with these `sizes`, where units are put in this `order`."""
    ordered_sizes = sizes[order]
    shifts = _starts(sizes)[order] - _starts(ordered_sizes)
    indices = np.repeat(shifts, ordered_sizes)
    indices += np.arange(len(indices))
    return indices


def _by_unit(unit_of_row: Indices) -> Indices:
    """The rows sorted by unit and, of one unit, as they come."""
    # By the lowest bits first, then by higher ones, of rows that agree in them as they are: to
    # count integers of few bits takes a third of a sort of large ones.
    rows = np.argsort(unit_of_row.astype(np.uint16), kind="stable")  # higher bits are left
    higher = unit_of_row >> _NUMBER_BITS
    while higher.any():
        rows = rows[np.argsort(higher[rows].astype(np.uint16), kind="stable")]
        higher >>= _NUMBER_BITS
    return rows


def _changes(values: Numbers) -> Flags:
    """Of each value, whether it is another than the one before."""
    begins = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return begins
