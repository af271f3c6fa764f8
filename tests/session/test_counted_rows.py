"""What a sidecar counts of rows is what SQL counts of them, also where hashes of values collide."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import pytest
from data.database import attached
from sqlglot import exp

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar import listed_texts, row_parts, unit_digests
from dpsql.engine.sidecar.contents import SIDECAR, UNIT_SCHEMA
from dpsql.engine.sidecar.ordering import row_hashes, value_counts
from dpsql.engine.sidecar.ordering.row_order import Targets, write_rows
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN, SidecarTable, many_values_column
from dpsql.engine.sidecar.row_parts import in_parts, is_of_part, rows_of
from dpsql.engine.sidecar.unit_sums import ColumnSum
from dpsql.structs import replace

SALT: Final = "a 'salt'"

COLUMNS: Final = {
    "few": "nullif('t' || i % 4, 't3')",
    'Many "texts"': "CASE WHEN i % 5 > 0 THEN 'text ' || i % 1501 END",
    "number": "(i * 7) % 11 - 5",
    "wide": "(i % 3)::HUGEINT << 120",
    "widest": "340282366920938463463374607431768211455::UHUGEINT - (i % 3)::UHUGEINT",
    "float": "['0', '-0', 'nan', 'inf', NULL][1 + i % 5]::DOUBLE",
    "exact": "((i % 4) / 4)::DECIMAL(38, 2)",
    "narrow": "((i % 5) / 8)::DECIMAL(15, 3)",
    "truth": "i % 2 = 0",
    "id": "md5((i % 6)::VARCHAR)::UUID",
    "day": "[DATE 'infinity', DATE '2026-01-01', NULL][1 + i % 3]",
    "far": "[DATE 'infinity', DATE '-infinity', NULL, DATE '5881580-07-10', DATE '2026-01-01'"
    ", DATE '2026-01-31', DATE '2025-01-31', DATE '290309-12-22 (BC)'][1 + (i // 3) % 8]",
    "moment": "[TIMESTAMP '-infinity', TIMESTAMP '9999-12-31 23:59:59.999999'][1 + i % 2]",
}

MONTH: Final = "TRY(date_trunc('month', far))"

UNITS: Final = {
    "number": "i % 60",
    "text": "'unit ' || i % 60",
    "uuid": "md5((i % 60)::VARCHAR)::UUID",
    "wide": "(i % 60)::HUGEINT << 119",
    "one": "1",
}

HASHES: Final = {
    "all collide": "7::UBIGINT",
    "thirds collide": "hash(u, v, s) // 6148914691236517206",
    "what comes first collides": "hash(u, v, s) % 100000",
    "what comes last differs": "(1::UBIGINT << 63) + hash(u, v, s) % 100000",
}
"""Of units, values and the salt, in place of DuckDB's hash."""

TARGETS: Final = Targets.of("t", dict.fromkeys(map(many_values_column, COLUMNS), 0))

CONTENTS: Final = SidecarTable(
    name="t",
    rows="SELECT * FROM t",
    with_unit="",
    group_count_columns=tuple(COLUMNS),
    months=(("month of far", MONTH),),
    range_checked_columns=(),
    unit_sum_columns=(ColumnSum("number", "number", '"sum of number"'),),
    unit_column="owner",
    lent_unit_column="owner",
    max_rows=11,
    max_rows_per_value=6,
    compared=tuple(f"CAST({quoted(name)} AS VARCHAR)" for name in COLUMNS),
)


@pytest.mark.parametrize("unit", UNITS)
def test_counts_are_those_of_sql(unit: str) -> None:
    with made(UNITS[unit]) as connection:
        check(connection)


@pytest.mark.parametrize("at_once", [1, 50])
def test_counts_are_those_of_sql_where_few_units_are_counted_at_a_time(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(value_counts, "_AT_ONCE", at_once)
    with made("CASE WHEN i < 90 THEN i % 3 ELSE i // 7 END") as connection:
        check(connection)


@pytest.mark.parametrize("number", [4, 20])
def test_rows_that_waited_in_files_are_counted_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(row_parts, "_READ_AGAIN", 3)
    # Of twenty parts, some have none of the ten units.
    with made("md5((i % 10)::VARCHAR)::UUID") as connection:
        parts = in_parts(connection, CONTENTS, number, tmp_path)
        first = next(parts)
        assert len(list(tmp_path.iterdir())) == number - 1
        write_rows(connection, CONTENTS, TARGETS, SALT, first)
        for columns in parts:
            write_rows(connection, CONTENTS, replace(TARGETS, whole_table=None), SALT, columns)
        assert not list(tmp_path.iterdir())
        compare(connection)


@pytest.mark.parametrize("number", [1, 2, 3, 500])
def test_each_hash_is_that_of_one_part(number: int) -> None:
    conditions = [is_of_part(part, number) for part in range(number)]
    hashes = {n * 2**64 // number + d for n in range(number + 1) for d in (-1, 0)}
    hashes = {0, 2**64 - 1} | {each for each in hashes if 0 <= each < 2**64}
    values = ", ".join(f"({each})" for each in hashes)
    of = " + ".join(f"({each})::INTEGER" for each in conditions)
    select = f"SELECT {of} FROM (VALUES {values}) t(h)".replace(f"hash({_sql(UNIT_COLUMN)})", "h")
    with attached() as connection:
        assert connection.execute(select).fetchall() == [(1,)] * len(hashes)


def test_which_part_a_row_is_of_is_known_before_it_is_joined() -> None:
    unit = _sql(UNIT_COLUMN)
    joined = f"SELECT l.i, o.u AS {unit} FROM l JOIN o USING (i)"
    with attached() as connection:
        connection.execute("CREATE TABLE o AS SELECT i, i AS u FROM range(9) r(i)")
        connection.execute("CREATE TABLE l AS FROM range(99) r(i)")
        select = f"EXPLAIN SELECT * FROM ({joined}) WHERE {is_of_part(1, 2)}"
        ((_, plan),) = connection.execute(select).fetchall()
    above, join, below = plan.partition("Hash Join")
    assert join
    assert "hash(" not in above
    assert "hash(" in below


@pytest.mark.parametrize("number", [1, 3, 7])
def test_texts_that_the_first_rows_have_not_are_read_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(row_parts, "_READ_AGAIN", 3)
    # Whoever reads a text by a list that hasn't it reads NULL.
    monkeypatch.setattr(listed_texts, "_values", lambda *of: ["t0", "t1"] if "few" in of else [])
    with made(UNITS["number"]) as connection:
        first, *others = in_parts(connection, CONTENTS, number, tmp_path)
        write_rows(connection, CONTENTS, TARGETS, SALT, first)
        for columns in others:
            write_rows(connection, CONTENTS, replace(TARGETS, whole_table=None), SALT, columns)
        assert not list(tmp_path.iterdir())
        compare(connection)


def test_texts_are_listed_where_each_came_again_and_no_row_has_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listed_texts, "_SAMPLED", 2500)
    with attached() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT nullif('it''s ' || i % 3, 'it''s 2') AS few, i || '' AS each,"
            " CASE WHEN i = 5 THEN 'once' ELSE 'often' END AS once, 'a' || chr(0) AS ends, i AS n,"
            " CASE WHEN i = 2999 THEN 'late' ELSE 'early' END AS late FROM range(3000) r(i)"
        )
        types = row_parts.described(connection, "FROM t")
        found = listed_texts.listed_texts(connection, "t", types)
    assert found == {"few": "ENUM('it''s 0', 'it''s 1')"}


@pytest.mark.parametrize("hashed", HASHES)
@pytest.mark.parametrize("unit", ["number", "one"])
def test_values_whose_hashes_collide_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, unit: str, hashed: str
) -> None:
    # Who knows DuckDB's hash writes texts of one hash: taken for one value, all of them would be in
    # a unit's first group, and the unit in more groups than its limit.
    monkeypatch.setattr(row_hashes, "_HASH", "weak")
    with made(UNITS[unit], HASHES[hashed]) as connection:
        check(connection, "weak")


@pytest.mark.parametrize(
    "hashed",
    ["7::UBIGINT", "h // 614891469123651720", "(1::UBIGINT << 63) + h % 10000"],
)
def test_rows_whose_hashes_collide_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, hashed: str
) -> None:
    # Whoever writes rows of one hash would have other units' rows decide which of them count.
    monkeypatch.setattr(unit_digests, "_HASH_ROW", "weak_row")
    with made(UNITS["number"]) as connection:
        connection.execute(f"CREATE MACRO weak_row(h) AS {hashed}")
        check(connection, hashed_row="weak_row")


@pytest.mark.parametrize("units", [1, 65_536, 65_537, 150_000])
def test_a_units_rows_are_together_however_many_units_there_are(units: int) -> None:
    unit_of_row = np.arange(2 * units)[::-1] * 7919 % units  # prime: each unit comes twice
    numbers = np.arange(2 * units, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    blocks, tied = value_counts.UnitBlocks.of(unit_of_row, numbers)
    assert blocks.sizes.tolist() == [2] * units
    assert not len(tied)
    assert (blocks.rows == np.lexsort((numbers, unit_of_row))).all()


@pytest.mark.parametrize("rows", [65_534, 65_535, 65_536, 140_000])
def test_counts_of_more_rows_than_they_hold_are_the_highest(rows: int) -> None:
    # Two rows of a unit come first.
    unit_of_row = np.repeat([0, 1], [2, rows])
    places = np.concatenate([[0, 1], np.arange(rows)]).astype(np.uint64)
    blocks, _ = value_counts.UnitBlocks.of(unit_of_row, places)
    alike = value_counts.value_counts(blocks, np.ones_like(places), None)
    differing = value_counts.value_counts(blocks, places, None)
    assert alike is not None
    assert differing is not None
    capped, one = np.minimum(places + 1, 65_535), np.ones_like(places)
    of_unit = np.repeat([2, min(rows, 65_535)], [2, rows])
    everywhere = np.arange(rows + 2)
    assert (np.stack(alike.of_rows(everywhere, 4)) == [of_unit, one, one, capped]).all()
    assert (np.stack(differing.of_rows(everywhere, 4)) == [one, capped, of_unit, one]).all()
    assert alike.max_rows.tolist() == [2, rows]


def test_units_are_no_floats() -> None:
    with (
        made("['0', '-0'][1 + i % 2]::DOUBLE") as connection,
        pytest.raises(ValueError, match="identifies no unit"),
    ):
        check(connection)


def test_units_over_a_limit_are_last_and_others_in_the_order_of_their_rows() -> None:
    # Of a hundred units with five rows, ten with ten that have one value, and five with
    # twenty, the last two kinds are over a limit: of rows with a value, and of rows.
    of_units = "CASE WHEN i < 500 THEN i % 100 WHEN i < 600 THEN i % 10 - 10 ELSE i % 5 - 20 END"
    with made(of_units) as connection:
        write_rows(connection, CONTENTS, TARGETS, SALT, rows_of(connection, CONTENTS, "true"))
        most = ", ".join(f"max({_sql(f'rows with {name}')})" for name in COLUMNS)
        found = connection.execute(
            f'SELECT "{UNIT_COLUMN}", count(*), greatest({most}), min(rowid), max(rowid)'
            f" FROM {_rows()} GROUP BY ALL ORDER BY min(rowid)"
        ).fetchall()
        places = [(rows > 11 or many > 6, rows, unit) for unit, rows, many, _, _ in found]
        assert places == sorted(places)
        assert [over for over, _, _ in places] == [False] * 100 + [True] * 15
        assert all(last - first + 1 == rows for _, rows, _, first, last in found)
        units = connection.execute(f'SELECT owner FROM "{SIDECAR}".{UNIT_SCHEMA}.t').fetchall()
        assert [unit for (unit,) in units] == [unit for unit, *_ in found]


def made(unit: str, weak: str = "0") -> duckdb.DuckDBPyConnection:
    """A connection with a table of seven hundred rows in no order, and a sidecar without tables."""
    connection = duckdb.connect(":memory:")
    if row_parts.has_narrow_decimals():
        connection.execute("SET arrow_output_version = '1.5'")  # as where a file is made
    connection.execute(f"ATTACH ':memory:' AS \"{SIDECAR}\"")
    for schema in (UNIT_SCHEMA, unit_digests.DIGEST_SCHEMA):
        connection.execute(f'CREATE SCHEMA "{SIDECAR}".{schema}')
    connection.execute(f"CREATE MACRO weak(u, v, s) AS {weak}")
    items = ", ".join(f"{value} AS {_sql(name)}" for name, value in COLUMNS.items())
    connection.execute(
        f'CREATE TABLE t AS SELECT {items}, {unit} AS "{UNIT_COLUMN}"'
        " FROM range(700) r(i) ORDER BY hash(i)"
    )
    connection.execute(f'INSERT INTO t ("{UNIT_COLUMN}") VALUES (NULL)')  # nobody's row
    return connection


def check(
    connection: duckdb.DuckDBPyConnection, hashed: str = "hash", hashed_row: str = "hash"
) -> None:
    """Rows that are counted at once are as `compare` says."""
    write_rows(connection, CONTENTS, TARGETS, SALT, rows_of(connection, CONTENTS, "true"))
    compare(connection, hashed, hashed_row)


def compare(
    connection: duckdb.DuckDBPyConnection, hashed: str = "hash", hashed_row: str = "hash"
) -> None:
    """Rows come back as they were, and each count is what windows of SQL have."""
    shown = ", ".join([*map(_sql, COLUMNS), f'"{UNIT_COLUMN}"'])
    rows = f'SELECT {shown} FROM t WHERE "{UNIT_COLUMN}" IS NOT NULL'
    assert differing(connection, rows, f"SELECT {shown} FROM {_rows()}") == 0
    for column in COLUMNS:
        grouped = f'SELECT "{UNIT_COLUMN}" AS u, {_sql(column)} AS v'
        kinds = (f"rows with {column}", f"place of {column}", f"values of {column} in the unit")
        found = f"""{grouped}, {", ".join(map(_sql, kinds))} FROM {_rows()} GROUP BY ALL"""
        secret = exp.Literal.string(SALT).sql("duckdb")
        wanted = f"""SELECT u, v, k, row_number() OVER (PARTITION BY u
            ORDER BY {hashed}(u, v, {secret}), v), count(*) OVER (PARTITION BY u)
            FROM ({grouped}, count(*) AS k FROM ({rows}) GROUP BY ALL)"""
        assert differing(connection, found, wanted) == 0, column
    numbers(connection, rows, hashed_row)
    (month, key), *_ = CONTENTS.months
    found = (
        f"""SELECT "{UNIT_COLUMN}", {key}, "rows with {month}", "place of {month}" FROM {_rows()}"""
    )
    wanted = f"""SELECT u, v, count(*) OVER (PARTITION BY u, v),
        dense_rank() OVER (PARTITION BY u ORDER BY {hashed}(u, v, {secret}), v)
        FROM (SELECT "{UNIT_COLUMN}" AS u, {key} AS v FROM ({rows}))"""
    assert differing(connection, found, wanted) == 0
    units = f'SELECT "{UNIT_COLUMN}" AS u, count(*) AS k, count(number), sum(number) FROM'
    found = f"""SELECT owner, "rows of the unit", "values of number", "sum of number"
        FROM "{SIDECAR}".{UNIT_SCHEMA}.t"""
    assert differing(connection, f"{units} ({rows}) GROUP BY u", found) == 0
    # An update compares what is stored with what the source's rows have.
    digests = f'FROM ({unit_digests.digests(CONTENTS, SALT)}) WHERE "{UNIT_COLUMN}" IS NOT NULL'
    assert differing(connection, digests, f"FROM {TARGETS.digests.sql('duckdb')}") == 0


def numbers(connection: duckdb.DuckDBPyConnection, rows: str, hashed_row: str) -> None:
    """Rows with a value of a column are numbered in their unit in the order of their hashes.

    Rows that are alike follow each other in any order, another one for each column.
    """
    secret = exp.Literal.string(SALT).sql("duckdb")
    all_columns = ", ".join(CONTENTS.compared)
    alike = f'rank() OVER (ORDER BY "{UNIT_COLUMN}", {all_columns}) AS alike'
    order = f'{hashed_row}(hash({secret}, "{UNIT_COLUMN}", {all_columns})), {all_columns}'
    found = ", ".join(f"{_sql(f'number with {c}')} AS n{i}" for i, c in enumerate(COLUMNS))
    wanted = ", ".join(
        f'row_number() OVER (PARTITION BY "{UNIT_COLUMN}", {_sql(c)} ORDER BY place) AS n{i}'
        for i, c in enumerate(COLUMNS)
    )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE found AS SELECT {alike}, {found} FROM {_rows()}"
    )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE wanted AS SELECT alike, {wanted} FROM"
        f" (SELECT *, {alike}, row_number() OVER (ORDER BY {order}) AS place FROM ({rows}))"
    )
    for number, column in enumerate(COLUMNS):
        sides = [f"SELECT alike, n{number} FROM {side}" for side in ("found", "wanted")]
        assert differing(connection, *sides) == 0, column


def differing(connection: duckdb.DuckDBPyConnection, one: str, other: str) -> int:
    """How many different rows one has more often than the other, of which each is computed once."""
    sides = f"SELECT *, 1 AS side FROM ({one}) UNION ALL SELECT *, -1 FROM ({other})"
    ((number,),) = connection.execute(
        "SELECT count(*) FROM (SELECT * EXCLUDE (side), sum(side) AS more FROM"
        f" ({sides}) GROUP BY ALL HAVING more <> 0)"
    ).fetchall()
    return int(number)


def _rows() -> str:
    return TARGETS.rows.sql("duckdb")


def _sql(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")
