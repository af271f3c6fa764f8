"""Which part of a table's rows its limits leave out: for the owner alone, who chooses the limits.

Limits cut a unit's rows per answer, by the keys that it groups by. So each table is counted as an
answer without groups has it, and as one by each of its columns of listed values. Of each, only how
many units have how many rows or groups is read: whole numbers, that tell of every limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from sqlglot import exp

from dpsql.emit.sql.identifier import column_ref, schema_name
from dpsql.engine.engine import Engine
from dpsql.privacy.over_groups import OverGroups
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.session.unit_rows import checked_rows, joined_to_unit

_ROWS, _UNIT, _KEY = "n", "unit", "key"


class LimitedRows(Struct, frozen=True):
    """What `limit` of `table` leaves out of answers by `key`, which is "" of those without groups.

    `value` is what is declared. `rows_by_size` has by the number of rows of a unit, of its rows in
    a group, or of its groups, how many rows there are in units or groups of that size. `units` is
    the number of units that the limit leaves rows of out, of `every_unit`.
    """

    table: Table
    limit: str
    value: int
    key: str
    rows_by_size: Mapping[int, int]
    units: int
    every_unit: int

    @property
    def is_scaled(self) -> bool:
        """Whether units over the limit count in all of their groups, and `part` is the most it is.

        A unit in n of g groups keeps the part g/n of its rows on average if groups are drawn, and
        at least √(g/n), or g/n, if it is scaled to the L2 or the L1 norm.
        """
        return self.limit == "groups" and self.table.limits.over_groups is OverGroups.SCALE

    @property
    def part(self) -> Fraction:
        """The part of the rows that is left out; of `groups` its mean, over the choice of them."""
        return self.part_at(self.value)

    def part_at(self, value: int) -> Fraction:
        """The part of the rows that the limit would leave out if it were `value`."""
        whole, rest = 0, Fraction(0)
        for size, rows in self.rows_by_size.items():
            # Of so many rows, or groups, the limit counts this part of the rows.
            counted, remainder = divmod(rows * min(size, value), size)
            whole += counted
            rest += Fraction(remainder, size) if remainder else 0
        every = sum(self.rows_by_size.values())
        # On a server, rows may have gone since they were counted.
        return 1 - (whole + rest) / every if every else Fraction(0)

    def smallest_limit(self, part: Fraction) -> int:
        """The least power of two that would leave out `part` of the rows at most."""
        value = 1
        while self.part_at(value) > part:
            value *= 2
        return value


def limited_rows(schema: Schema, engine: Engine, rows: Mapping[str, int]) -> Iterator[LimitedRows]:
    """Each limit of the tables that have `rows`, where a unit may have several."""
    for table in schema.tables.values():
        own = table.ownership
        if isinstance(own, EntityUnit) and rows[table.name] and not _has_one_row(table, own):
            yield from _without_key(table, own, engine)
            for column in table.columns.values():
                if column.values is not None:
                    yield from _by_key(table, own, column.name, engine)


def _has_one_row(table: Table, own: EntityUnit) -> bool:
    return not own.hops and table.key == (own.column,)


def _without_key(table: Table, own: EntityUnit, engine: Engine) -> Iterator[LimitedRows]:
    limit = table.limits.rows
    units = _sizes(engine, _counts(table, own, None))
    if units:
        cut = sum(count for size, count in units.items() if size > limit)
        yield LimitedRows(table, "rows", limit, "", _rows(units), cut, sum(units.values()))


def _by_key(table: Table, own: EntityUnit, key: str, engine: Engine) -> Iterator[LimitedRows]:
    """What either limit leaves out alone; groups are chosen without regard to their rows."""
    limits, counts = table.limits, _counts(table, own, key)
    groups = _sizes(engine, counts)
    if not groups:
        return
    per_unit = (
        exp.select("count(*) AS size", f"max({_ROWS}) AS most", f"sum({_ROWS}) AS every")
        .from_(counts.copy())
        .group_by(_UNIT)
    )
    exceeds = exp.GT(this=exp.column("most"), expression=exp.Literal.number(limits.rows_per_group))
    flag = exp.Case().when(exceeds, exp.Literal.number(1)).else_(exp.Literal.number(0))
    by_size = (
        exp.select("size", exp.alias_(flag, "is_over"), "count(*)", "sum(every)")
        .from_(per_unit.subquery("u"))
        .group_by("size", flag.copy())
    )
    sizes = [*_numbers(engine, by_size)]
    every_unit = sum(units for _, _, units, _ in sizes)
    over = sum(units for _, is_over, units, _ in sizes if is_over)
    yield LimitedRows(
        table, "rows_per_group", limits.rows_per_group, key, _rows(groups), over, every_unit
    )
    of_groups: dict[int, int] = {}
    for size, _, _, rows in sizes:
        of_groups[size] = of_groups.get(size, 0) + rows
    over = sum(units for size, _, units, _ in sizes if size > limits.groups)
    yield LimitedRows(table, "groups", limits.groups, key, of_groups, over, every_unit)


def _rows(numbers: Mapping[int, int]) -> dict[int, int]:
    """How many rows are in units or groups of each size, of which there are `numbers`."""
    return {size: size * count for size, count in numbers.items()}


def _sizes(engine: Engine, counts: exp.Subquery) -> dict[int, int]:
    """How many of `counts` there are of each number of rows."""
    by_size = exp.select(_ROWS, "count(*)").from_(counts.copy()).group_by(_ROWS)
    return {size: count for size, count in _numbers(engine, by_size)}  # noqa: C416 - of lists


def _counts(table: Table, own: EntityUnit, key: str | None) -> exp.Subquery:
    """How many rows of `table` each unit has, or has with each value of `key`."""
    source, owner = joined_to_unit(table, own)
    grouped = {_UNIT: owner}
    if key is not None:
        grouped[_KEY] = column_ref(schema_name(key), table="h0")
    selected = (exp.alias_(column.copy(), name) for name, column in grouped.items())
    rows = source.select(*selected, exp.alias_(exp.Count(this=exp.Star()), _ROWS))
    return rows.group_by(*grouped.values()).subquery("c")


def _numbers(engine: Engine, tree: exp.Select) -> Iterator[Sequence[int]]:
    columns = [column.to_pylist() for column in checked_rows(engine, tree).columns]
    for row in zip(*columns, strict=True):
        yield [int(number) for number in row]
