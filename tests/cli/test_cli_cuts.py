"""The owner is told what limits and bounds cut off, exactly, and which would cut off less."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from cli.cli_run import Run
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.schema.load.load import load_schema
from dpsql.session.clipped_values import ClippedValues, clipped_values
from dpsql.session.limited_rows import LimitedRows, limited_rows
from dpsql.session.sidecar import open_source

SCHEMA = """\
dataset: shop
source: shop.duckdb
units: {person: {table: people, key: id}}
tables:
  people:
    key: id
    unit: person
    columns: {id: {type: bigint}, age: {type: integer, bounds: [0, 64]}}
  orders:
    key: number
    unit: {column: person, references: people.id}
    limits: {groups: 2, rows_per_group: 3, rows: 5}
    columns:
      number: {type: bigint}
      person: {type: bigint}
      town: {type: varchar, values: [Bonn, Kiel, Ulm]}
      total: {type: "decimal(18,2)", bounds: [0.5, 99.75]}
      change: {type: double, bounds: [-10, 0.1]}
  lines:
    unit: {column: order, references: orders.number}
    columns: {order: {type: bigint}, pieces: {type: integer, bounds: [-5, -2]}}
  visits:
    unit: row
    columns: {seconds: {type: double, bounds: [0, 1]}, place: {type: varchar}}
  towns: {public: true, columns: {size: {type: integer, bounds: [0, 1]}}}
budget: {epsilon: 1}
"""

Order = tuple[int | None, str | None, Fraction | None, float | None]


def numbers(seed: str, count: int) -> list[int]:
    return list(SeededRandomness(seed).bytes(count))


def drawn_orders(seed: str) -> list[Order]:
    """Sixty orders, some of nobody, of no town or no total, and changes of any sign and size."""
    dice = numbers(seed, 6 * 60)
    return [
        (
            None if a > 250 else a % 11,
            [None, "Bonn", "Kiel", "Ulm", "Ulm"][b % 5],
            None if c == 0 else Fraction(c * c * c, 100) - 9,
            None if d % 9 == 0 else (d - 128) * 2.0 ** (e % 40 - 30) / (1 + f % 3),
        )
        for a, b, c, d, e, f in zip(*[iter(dice)] * 6, strict=True)
    ]


def write(folder: Path, orders: Sequence[Order]) -> Path:
    with attached(folder / "shop.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i::BIGINT AS id, (i * 10)::INT AS age"
            " FROM range(12) t(i);"
            "CREATE TABLE orders (number BIGINT, person BIGINT, town TEXT, total DECIMAL(18, 2),"
            " change DOUBLE);"
            'CREATE TABLE lines ("order" BIGINT, pieces INTEGER);'
            "CREATE TABLE visits (seconds DOUBLE, place TEXT); CREATE TABLE towns (size INTEGER)"
        )
        for number, (person, town, total, change) in enumerate(orders):
            cents = None if total is None else int(total * 100)
            connection.execute(
                "INSERT INTO orders VALUES (?, ?, ?, (?::DECIMAL(18, 2) / 100)::DECIMAL(18, 2), ?)",
                [number, person, town, cents, change],
            )
        connection.execute(
            "INSERT INTO lines SELECT number % 50, number::INT % 13 - 8 FROM orders;"
            "INSERT INTO lines VALUES (1000000, -100), (NULL, 7), (3, NULL)"
        )
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return folder / "schema.yaml"


def found(path: Path) -> tuple[dict[str, LimitedRows], dict[str, ClippedValues]]:
    schema = load_schema(path)
    engine = open_source(schema)
    rows = dict.fromkeys(schema.tables, 1)
    limited = {
        f"{each.table.name} {each.limit} {each.key}".strip(): each
        for each in limited_rows(schema, engine, rows)
    }
    clipped = {
        f"{each.table.name}.{each.column.name}": each
        for each in clipped_values(schema, engine, rows)
    }
    engine.close()
    return limited, clipped


def ends(low: int, high: int) -> tuple[Fraction, Fraction]:
    return Fraction(low), Fraction(high)


def clip(x: Fraction, low: Fraction, high: Fraction) -> Fraction:
    return max(low, min(high, x))


def cut_part(values: Sequence[Fraction], low: Fraction, high: Fraction) -> Fraction:
    whole = sum(map(abs, values), Fraction(0))
    return sum((abs(x - clip(x, low, high)) for x in values), Fraction(0)) / whole


@pytest.mark.parametrize("seed", ["a", "b", "c", "d"])
def test_parts_are_those_of_a_count_by_hand(tmp_path: Path, seed: str) -> None:
    orders = drawn_orders(seed)
    limited, clipped = found(write(tmp_path, orders))
    owned = [order for order in orders if order[0] is not None]
    per_person = Counter(person for person, *_ in owned)
    per_cell = Counter((person, town) for person, town, *_ in owned)
    towns = Counter(person for person, _ in per_cell)

    rows = limited["orders rows"]
    assert rows.part == Fraction(sum(max(0, n - 5) for n in per_person.values()), len(owned))
    assert (rows.units, rows.every_unit) == (
        sum(n > 5 for n in per_person.values()),
        len(per_person),
    )
    in_group = limited["orders rows_per_group town"]
    assert in_group.part == Fraction(sum(max(0, n - 3) for n in per_cell.values()), len(owned))
    assert in_group.units == len({person for (person, _), n in per_cell.items() if n > 3})
    groups = limited["orders groups town"]
    left = sum(
        (
            n * (1 - Fraction(min(2, towns[person]), towns[person]))
            for person, n in per_person.items()
        ),
        Fraction(0),
    )
    assert groups.part == left / len(owned)
    assert groups.units == sum(n > 2 for n in towns.values())

    for name, index, low, high in (
        ("orders.total", 2, Fraction("0.5"), Fraction("99.75")),
        ("orders.change", 3, Fraction(-10), Fraction("0.1")),
    ):
        cut = clipped[name]
        values = [(order[0], Fraction(order[index])) for order in owned if order[index] is not None]  # type: ignore[arg-type]
        numbers_only = [x for _, x in values]
        assert cut.part == cut_part(numbers_only, low, high)
        beyond = {person for person, x in values if not low <= x <= high}
        assert (cut.units, cut.every_unit) == (len(beyond), len({person for person, _ in values}))
        for exponent in (-3, 0, 4, 20):
            bound = Fraction(2) ** exponent
            assert cut.part_at(bound) == cut_part(numbers_only, -bound, bound)


@pytest.mark.parametrize("part", [Fraction(0), Fraction(1, 100), Fraction(5, 100)])
def test_the_least_power_of_two_is_the_least(tmp_path: Path, part: Fraction) -> None:
    limited, clipped = found(write(tmp_path, drawn_orders("least")))
    for limit in limited.values():
        least = limit.smallest_limit(part)
        assert limit.part_at(least) <= part
        assert least == 1 or limit.part_at(least // 2) > part
    for cut in clipped.values():
        bound = max(map(abs, cut.narrowest_bounds(part)))
        assert cut.part_at(bound) <= part < cut.part_at(bound / 2)


def test_rows_are_counted_over_all_hops(tmp_path: Path) -> None:
    """Lines of no order, or of an order of nobody, count nowhere: nothing is cut off them."""
    orders: list[Order] = [(1, "Ulm", Fraction(1), 0.0)] * 49 + [(None, "Ulm", Fraction(1), 0.0)]
    limited, clipped = found(write(tmp_path, orders))
    # 49 lines and the one without pieces are person 1's.
    assert limited["lines rows"].rows_by_size == {50: 50}
    pieces = clipped["lines.pieces"]
    values = [Fraction(number % 13 - 8) for number in range(49)]
    assert pieces.part == cut_part(values, Fraction(-5), Fraction(-2))
    assert (pieces.units, pieces.every_unit) == (1, 1)
    assert pieces.narrowest_bounds(Fraction(0)) == ends(-8, 8)


def test_bounds_of_rows_that_are_units_are_told(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, drawn_orders("rows"))
    with shop(tmp_path) as connection:
        connection.execute(
            "INSERT INTO visits SELECT 2, 'secret place' FROM range(4);"
            "INSERT INTO visits VALUES (0, NULL), (NULL, NULL), (-1, NULL),"
            " ('nan', NULL), ('infinity', NULL), (1e300, NULL)"
        )
    told = run("check", path)
    assert told.code == 0, told.err
    (line,) = (line for line in told.out.splitlines() if "seconds: " in line)
    # Of 9 in all 4 are above 1 and 1 is below 0; NaN isn't within any bounds.
    assert line.split("  ")[0] == "visits"
    cells = re.split(" {2,}", line)[1:]
    assert cells == ["seconds: [0, 1]", "55.6 %", "8 of 9", *["[-2, 2]"] * 3]
    assert "visits: 3 values of seconds are NaN or beyond 2^80, and in no sum" in told.out
    assert "secret" not in told.out + told.err


def test_only_private_columns_of_numbers_with_bounds_are_told(tmp_path: Path) -> None:
    _, clipped = found(write(tmp_path, drawn_orders("names")))
    assert [*clipped] == ["people.age", "orders.total", "orders.change", "lines.pieces"]


def test_tables_without_rows_have_no_cuts(run: Run, tmp_path: Path) -> None:
    told = run("check", write(tmp_path, []))
    assert told.code == 0, told.err
    assert "orders" not in told.out.split("what limits cut off")[1].replace("orders.", "")
    with shop(tmp_path) as connection:
        connection.execute("DELETE FROM people; DELETE FROM lines")
    assert "what limits cut off" not in run("check", tmp_path / "schema.yaml").out


def test_extreme_numbers_are_no_fault(tmp_path: Path) -> None:
    """The largest and the smallest that a column's type has, and sums of zeros alone."""
    path = write(tmp_path, [(1, "Ulm", Fraction(0), math.ulp(0.0)), (1, "Ulm", Fraction(0), -0.0)])
    with shop(tmp_path) as connection:
        connection.execute(
            "INSERT INTO lines VALUES (1, 2147483647), (1, -2147483648);"
            "INSERT INTO orders VALUES (900, 1, 'Ulm', 9999999999999999.99, 1.7976931348623157e308)"
        )
    _, clipped = found(path)
    assert clipped["orders.total"].narrowest_bounds(Fraction(0)) == ends(0, 2**54)
    assert clipped["orders.change"].part == 0
    assert clipped["orders.change"].not_summed == 1
    assert clipped["lines.pieces"].narrowest_bounds(Fraction(0)) == ends(-(2**31), 2**31)


def test_zeros_alone_lose_nothing(tmp_path: Path) -> None:
    _, clipped = found(write(tmp_path, [(1, "Ulm", Fraction(0), 0.0)]))
    assert clipped["orders.total"].part == 0
    assert clipped["orders.total"].units == 1
    assert clipped["orders.total"].narrowest_bounds(Fraction(0)) == ends(0, 0)


@contextmanager
def shop(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with attached(folder / "shop.duckdb") as connection:
        yield connection
