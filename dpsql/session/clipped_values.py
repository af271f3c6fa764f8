"""Which part of a column's sum lies beyond its bounds: for the owner alone, who chooses the bounds.

Values are summed by powers of two and by the side of the bounds that they are on, as decimals or as
whole multiples of a power of two, so that sums are exact: of each bound, too, that is a power of
two. NaN and what is beyond 2^80 is in no sum, but its units have values beyond the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from msgspec import Struct
from sqlglot import exp

from dpsql.emit.sql.identifier import column_ref, schema_name
from dpsql.engine.engine import Engine
from dpsql.plan.expression_text import describe_number
from dpsql.schema.model import Column, EntityUnit, Public, RowUnit, Schema, Table
from dpsql.schema.sql_type import Decimal, Double, Integer
from dpsql.session.unit_rows import checked_rows, joined_to_unit, numbered_table

_LOWEST, _HIGHEST = -40, 80
"""The exponents of the grid of SUGGEST BOUNDS; what is smaller counts as of the lowest."""

_BITS: Final = 54
"""A double of the exponent e is a whole multiple of 2^(e - 54)."""

_EXPONENT: Final = (
    f"CASE WHEN size <= power(2, {_LOWEST}) THEN {_LOWEST}"
    f" WHEN size <= power(2, {_HIGHEST}) THEN CAST(ceil(log2(size)) AS INT) END AS exponent"
)
_MULTIPLES: Final = f"CAST(size * power(2, {_BITS} - exponent) AS DECIMAL(38, 0))"


class Magnitude(NamedTuple):
    """Which values are summed: their sign, their side of the bounds, their power of two."""

    is_negative: bool
    side: int
    exponent: int


class ClippedValues(Struct, frozen=True):
    """What the bounds of `column` cut off the sum of |x|.

    `sums` has the number of values of each magnitude, and the sum of their absolute values.
    `units` is the number of units with a value beyond the bounds, of `every_unit` with a value.
    `not_summed` is the number of values that are NaN or beyond the grid.
    """

    table: Table
    column: Column
    bounds: tuple[Fraction, Fraction]
    sums: Mapping[Magnitude, tuple[int, Fraction]]
    units: int
    every_unit: int
    not_summed: int

    @property
    def part(self) -> Fraction:
        """The sum of the distances from x to its bounds, as a part of the sum of |x|."""
        low, high = self.bounds
        cut = Fraction(0)
        for magnitude, (count, total) in self.sums.items():
            signed = -total if magnitude.is_negative else total
            if magnitude.side:
                cut += signed - count * high if magnitude.side > 0 else count * low - signed
        return self._of_all(cut)

    def part_at(self, bound: Fraction) -> Fraction:
        """What the bounds -`bound` and `bound`, a power of two, would cut off."""
        return self._of_all(
            sum(
                (
                    total - count * bound
                    for magnitude, (count, total) in self.sums.items()
                    if Fraction(2) ** magnitude.exponent > bound
                ),
                Fraction(0),
            )
        )

    def narrowest_bounds(self, part: Fraction) -> tuple[Fraction, Fraction]:
        """The narrowest bounds that would cut off `part` at most, by the least power of two.

        Where no value is below 0, or none above, that bound is 0.
        """
        exponent = _LOWEST
        while self.part_at(Fraction(2) ** exponent) > part:
            exponent += 1
        bound, signs = Fraction(2) ** exponent, {m.is_negative for m in self._not_zero()}
        return (-bound if True in signs else Fraction(0), bound if False in signs else Fraction(0))

    def _not_zero(self) -> Iterator[Magnitude]:
        return (magnitude for magnitude, (_, total) in self.sums.items() if total)

    def _of_all(self, cut: Fraction) -> Fraction:
        every = sum(total for _, total in self.sums.values())
        return Fraction(cut) / every if every else Fraction(0)


def clipped_values(
    schema: Schema, engine: Engine, rows: Mapping[str, int]
) -> Iterator[ClippedValues]:
    """Each column of numbers with bounds, of the private tables that have `rows`."""
    for table in schema.tables.values():
        if isinstance(table.ownership, Public) or not rows[table.name]:
            continue
        for column in table.columns.values():
            # The bounds of a randomised column are those of its mechanism.
            is_number = isinstance(column.type, Integer | Decimal | Double)
            if is_number and column.bounds is not None and column.local_epsilon is None:
                clipped = _clipped(table, column, engine)
                if clipped.every_unit:
                    yield clipped


def _clipped(table: Table, column: Column, engine: Engine) -> ClippedValues:
    assert column.bounds is not None
    low, high = (Fraction(str(bound)) for bound in column.bounds)
    values = _sided_values(table, column, low, high)
    is_row = isinstance(table.ownership, RowUnit)
    unit = "1" if is_row else "DISTINCT unit"
    beyond = (
        "CASE WHEN side <> 0 THEN 1 END"
        if is_row
        else ("DISTINCT CASE WHEN side <> 0 THEN unit END")
    )
    counts = exp.select(f"count({unit})", f"count({beyond})").from_(values.copy())
    every_unit, units = (c[0].as_py() for c in checked_rows(engine, counts).columns)
    by_size = exp.select("*", _EXPONENT).from_(values).subquery("e")
    of_double = isinstance(column.type, Double)
    amount = _MULTIPLES if of_double else "amount"
    tree = (
        exp.select("is_negative", "side", "exponent", "count(*)", f"sum({amount})")
        .from_(by_size)
        .group_by("is_negative", "side", "exponent")
    )
    columns = [each.to_pylist() for each in checked_rows(engine, tree).columns]
    sums, not_summed = {}, 0
    for is_negative, side, exponent, count, total in zip(*columns, strict=True):
        if exponent is None:
            not_summed += int(count)
            continue
        scale = Fraction(2) ** (exponent - _BITS) if of_double else Fraction(1)
        magnitude = Magnitude(bool(is_negative), int(side), int(exponent))
        sums[magnitude] = int(count), Fraction(total) * scale
    return ClippedValues(table, column, (low, high), sums, int(units), int(every_unit), not_summed)


def _sided_values(table: Table, column: Column, low: Fraction, high: Fraction) -> exp.Subquery:
    """The values of `column` that aren't NULL, with their units where rows have one."""
    x = column_ref(schema_name(column.name), table="h0")
    own = table.ownership
    if isinstance(own, EntityUnit):
        source, owner = joined_to_unit(table, own)
        source = source.select(exp.alias_(owner, "unit"))
    else:
        source = exp.Select().from_(numbered_table(table.name, 0))
    source = source.select(exp.alias_(x, "x"))
    source = source.where(exp.Not(this=exp.Is(this=x.copy(), expression=exp.null())))
    side = (
        exp.Case()
        .when(exp.GT(this=exp.column("x"), expression=_number(high)), exp.Literal.number(1))
        .when(exp.LT(this=exp.column("x"), expression=_number(low)), exp.Literal.number(-1))
        .else_(exp.Literal.number(0))
    )
    names = ["unit"] if isinstance(own, EntityUnit) else []
    scale = column.type.scale if isinstance(column.type, Decimal) else 0
    exact = (
        []
        if isinstance(column.type, Double)
        else [f"abs(TRY_CAST(x AS DECIMAL(38, {scale}))) AS amount"]
    )
    return (
        exp.select(*names, "x < 0 AS is_negative", exp.alias_(side, "side"), *exact)
        .select("abs(CAST(x AS DOUBLE)) AS size")
        .from_(source.subquery("v"))
        .subquery("s")
    )


def _number(bound: Fraction) -> exp.Expr:
    return exp.Literal.number(describe_number(bound))
