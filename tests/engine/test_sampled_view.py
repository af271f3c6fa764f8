"""A sample's rows are those of drawn units, whichever way a table tells whose they are.

Statistical tests fail by chance with a probability of at most 1 in 10^6 each.
"""

from __future__ import annotations

import hashlib
import math
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from data.database import attached

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.duckdb.sampled_view import sampled_view
from dpsql.engine.source import (
    DuckDBSource,
    RowByKey,
    SampledUnit,
    SourceSample,
    SourceTable,
    UnitColumn,
    UnitOfParent,
)
from dpsql.errors import InternalError

HALF = 2**63
PEOPLE = SourceTable("people", columns=(("id", "BIGINT"), ("name", "VARCHAR")))
ORDERS = SourceTable("orders", columns=(("order_id", "BIGINT"), ("person", "INTEGER")))
LINES = SourceTable("lines", columns=(("of_order", "BIGINT"), ("amount", "DOUBLE")))
NOTES = SourceTable("notes", columns=(("id", "INTEGER"), ("text", "VARCHAR")))
TOWNS = SourceTable("towns", columns=(("name", "VARCHAR"),))
# Each after what tells its units, in no order that would do.
UNITS: tuple[tuple[str, SampledUnit], ...] = (
    ("lines", UnitOfParent("orders", (("of_order", "order_id"),))),
    ("orders", UnitColumn("person", "person")),
    ("people", UnitColumn("person", "id")),
    ("notes", RowByKey(("id",))),
)


def key(seed: object) -> str:
    return hashlib.sha256(str(seed).encode()).hexdigest()


def stored(folder: Path, *statements: str) -> str:
    """A database with 200 people, two orders each of three lines, and notes; then `statements`."""
    path = folder / f"{len(list(folder.iterdir()))}.duckdb"
    with attached(path) as connection:
        for table, columns, count in (
            ("people", "range AS id, 'x' || range AS name", 200),
            ("orders", "range AS order_id, (range // 2)::INT AS person", 400),
            ("lines", "range // 3 AS of_order, range::DOUBLE AS amount", 1200),
            ("notes", "range::INT AS id, 'n' AS text", 200),
            ("towns", "'Bonn' AS name", 1),
        ):
            connection.execute(f"CREATE TABLE {table} AS SELECT {columns} FROM range({count})")
        for statement in statements:
            connection.execute(statement)
    return str(path)


def opened(database: str, seed: object = 0, threshold: int = HALF) -> DuckDBEngine:
    tables = (PEOPLE, ORDERS, LINES, NOTES, TOWNS)
    sample = SourceSample(threshold, UNITS, key(seed))
    return DuckDBEngine(DuckDBSource(database, tables, sample))


def rows(engine: DuckDBEngine, sql: str) -> list[tuple[object, ...]]:
    columns = [column.to_pylist() for column in engine.execute(sql).table.columns]
    return list(zip(*columns, strict=True))


def units(engine: DuckDBEngine, sql: str) -> set[object]:
    return {unit for (unit,) in rows(engine, sql)}


def test_a_unit_is_drawn_with_all_its_rows_or_none(tmp_path: Path) -> None:
    with closing(opened(stored(tmp_path))) as engine:
        people = units(engine, "SELECT id FROM people")
        assert 0 < len(people) < 200
        assert units(engine, "SELECT person FROM orders") == people
        assert rows(engine, "SELECT count(*) FROM orders") == [(2 * len(people),)]
        drawn = units(engine, "SELECT of_order // 2 FROM lines")
        assert drawn == people
        assert rows(engine, "SELECT count(*) FROM lines") == [(6 * len(people),)]
        assert rows(engine, "SELECT * FROM towns") == [("Bonn",)]


def test_the_sample_is_that_of_sha_256_and_of_nothing_else(tmp_path: Path) -> None:
    """By hand: 64 bits of it, of the kind's key and the unit, are below the threshold."""
    own = hashlib.sha256(f"{key(0)} person".encode()).hexdigest()

    def is_drawn(unit: int) -> bool:
        return int(hashlib.sha256(f"{own}{unit}".encode()).hexdigest()[:16], 16) < HALF

    with closing(opened(stored(tmp_path))) as engine:
        assert units(engine, "SELECT id FROM people") == set(filter(is_drawn, range(200)))


def test_neighbours_have_the_same_sample_of_everybody_else(tmp_path: Path) -> None:
    """Without a unit, the rows that are read lack its own, if it is drawn, and no others."""
    tables = ("people", "orders", "lines", "notes")
    whole = stored(tmp_path)
    removals = [
        "DELETE FROM people WHERE id = {0}",
        "DELETE FROM orders WHERE person = {0}",
        "DELETE FROM lines WHERE of_order // 2 = {0}",
    ]
    with closing(opened(whole)) as engine:
        drawn = units(engine, "SELECT id FROM people")
        before = {name: rows(engine, f"SELECT * FROM {name}") for name in tables}
    for unit in range(4):
        without = stored(tmp_path, *(each.format(unit) for each in removals))
        with closing(opened(without)) as engine:
            lost = {
                name: sorted(set(before[name]) - set(rows(engine, f"SELECT * FROM {name}")))
                for name in tables
            }
            assert all(set(rows(engine, f"SELECT * FROM {n}")) <= set(before[n]) for n in tables)
        found = unit in drawn
        assert [len(lost[name]) for name in tables] == [found, 2 * found, 6 * found, 0]


def test_order_and_other_columns_of_rows_draw_nothing_anew(tmp_path: Path) -> None:
    with closing(opened(stored(tmp_path))) as engine:
        drawn = {name: units(engine, f"SELECT id FROM {name}") for name in ("people", "notes")}
    changed = stored(
        tmp_path,
        "CREATE OR REPLACE TABLE notes AS SELECT id, 'other' AS text FROM notes ORDER BY id DESC",
        "CREATE OR REPLACE TABLE people AS SELECT id, 'z' AS name FROM people ORDER BY hash(id)",
    )
    with closing(opened(changed)) as engine:
        assert drawn == {n: units(engine, f"SELECT id FROM {n}") for n in ("people", "notes")}


def test_rows_of_one_key_are_drawn_each_for_itself(tmp_path: Path) -> None:
    """All or none of 200 alike: 2^-199. Every statement draws the same, in whatever order."""
    alike = "UPDATE notes SET id = 7, text = 'n' || (id % 3)"
    with closing(opened(stored(tmp_path, alike))) as engine:
        texts = "SELECT text, count(*) FROM notes GROUP BY text ORDER BY text"
        counts = rows(engine, texts)
        assert 50 < sum(int(str(count)) for _, count in counts) < 150
    turned = "CREATE OR REPLACE TABLE notes AS SELECT * FROM notes ORDER BY text DESC"
    with closing(opened(stored(tmp_path, alike, turned))) as engine:
        assert rows(engine, texts) == counts
    lost = "DELETE FROM notes"
    null = "INSERT INTO notes SELECT NULL, NULL FROM range(100)"
    with closing(opened(stored(tmp_path, lost, null))) as engine:
        ((count,),) = rows(engine, "SELECT count(*) FROM notes")
        assert 20 < int(str(count)) < 80  # P < 1e-9: they have no key, and are units all the same


def test_rows_without_a_unit_are_in_no_sample(tmp_path: Path) -> None:
    null = "UPDATE orders SET person = NULL"
    with closing(opened(stored(tmp_path, null), threshold=2**64 - 1)) as engine:
        assert rows(engine, "SELECT count(*) FROM orders") == [(0,)]
        assert rows(engine, "SELECT count(*) FROM lines") == [(0,)]
        assert rows(engine, "SELECT count(*) FROM people") == [(200,)]


def test_each_key_draws_units_independently_of_each_other() -> None:
    """Over 600 keys: how often a unit is drawn, and two that follow each other, or end alike.

    A share of 600 draws of probability p is off by 6·√(p(1-p)/600) with probability 2·10^-9; some
    350 shares are looked at.
    """
    draws: list[set[object]] = []
    with duckdb.connect() as connection:
        connection.execute(
            'CREATE TABLE "all of people" AS SELECT range AS id, NULL AS name FROM range(120)'
        )
        for seed in range(600):
            sample = SourceSample(2**64 // 10 * 3, UNITS, key(seed))
            connection.execute(sampled_view(PEOPLE, sample).sql("duckdb"))
            draws.append(
                {unit for (unit,) in connection.execute("SELECT id FROM people").fetchall()}
            )
            connection.execute("DROP VIEW people")

    def check(share: float, p: float) -> None:
        assert abs(share - p) < 6 * math.sqrt(p * (1 - p) / 600)

    for unit in range(118):
        check(sum(unit in drawn for drawn in draws) / 600, 0.3)
        check(sum({unit, unit + 1} <= drawn for drawn in draws) / 600, 0.09)
        check(sum({unit, (unit + 64) % 120} <= drawn for drawn in draws) / 600, 0.09)


def test_kinds_of_units_have_samples_of_their_own(tmp_path: Path) -> None:
    """Person 5 and note 5 are drawn together by chance alone: of 200, all with 2^-200."""
    with closing(opened(stored(tmp_path))) as engine:
        people, notes = (units(engine, f"SELECT id FROM {n}") for n in ("people", "notes"))
        assert 50 < len(people & notes) + len(set(range(200)) - people - notes) < 150


def test_text_and_csv_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,name\n" + "".join(f"{i},x\n" for i in range(200)))
    people = SourceTable("people", str(tmp_path / "people.csv"), PEOPLE.columns)
    sample = SourceSample(HALF, (("people", UnitColumn("person", "id")),), key(0))
    with closing(DuckDBEngine(DuckDBSource(None, (people,), sample))) as engine:
        drawn = units(engine, "SELECT id FROM people")
    with closing(opened(stored(tmp_path))) as engine:
        assert units(engine, "SELECT id FROM people") == drawn


def test_without_the_key_nothing_is_opened(tmp_path: Path) -> None:
    tables = (PEOPLE, ORDERS, LINES, NOTES, TOWNS)
    source = DuckDBSource(stored(tmp_path), tables, SourceSample(HALF, UNITS))
    with pytest.raises(InternalError, match="no key"):
        DuckDBEngine(source)
    assert key(0) not in repr(DuckDBSource(None, tables, SourceSample(HALF, UNITS, key(0))))
