"""Schemas of two thousand tables, and of lists with a hundred thousand values and more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from dpsql.schema.decode import load_schema
from dpsql.schema.looser import loosened
from dpsql.session.session import Session

TABLES, COLUMNS, VALUES = 2000, 50, 150_000
HEAD = """\
dataset: large
source: large.duckdb
ledger: ledger.db
units: {person: {table: t0, key: id}}
budget: {epsilon: 10, delta: 1e-6, accounting: approx}
per_query: {epsilon: 0.1, delta: 1e-9}
tables:
"""


def many_tables(folder: Path) -> Path:
    lines = [HEAD]
    with duckdb.connect(str(folder / "large.duckdb")) as connection:
        connection.begin()
        names = [f"c{number}" for number in range(COLUMNS - 1)]
        for number in range(TABLES):
            declared = ", ".join(f"{name} INTEGER" for name in names)
            connection.execute(f"CREATE TABLE t{number} (id BIGINT, {declared})")
            own = "{column: id, references: t0.id}" if number else "person"
            columns = ", ".join(f"{name}: {{bounds: [0, 90]}}" for name in names)
            key = "" if number else "key: id, "
            lines.append(f"  t{number}: {{{key}unit: {own}, columns: {{id: {{}}, {columns}}}}}\n")
        connection.execute(f"INSERT INTO t1 (id) FROM range({TABLES})")
        connection.commit()
    path = folder / "schema.yaml"
    path.write_text("".join(lines))
    return path


def many_values(folder: Path, values: int) -> Path:
    with duckdb.connect(str(folder / "large.duckdb")) as connection:
        connection.execute("CREATE OR REPLACE TABLE t0 AS SELECT i AS id, 'v' v FROM range(9) t(i)")
    listed = ", ".join(f"value {number}" for number in range(values))
    columns = f"{{id: {{type: bigint}}, v: {{type: varchar, values: [{listed}]}}}}"
    path = folder / "schema.yaml"
    path.write_text(f"{HEAD}  t0: {{key: id, unit: person, columns: {columns}}}\n")
    return path


def test_two_thousand_tables_are_checked_and_asked(tmp_path: Path) -> None:
    schema = many_tables(tmp_path)
    for arguments in (["check", str(schema)], ["query", str(schema), "SELECT count(*) FROM t1"]):
        command = [sys.executable, "-m", "dpsql.cli", *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("values", [VALUES, 999_999])
def test_long_lists_of_values_are_asked(tmp_path: Path, values: int) -> None:
    session = Session(many_values(tmp_path, values))
    assert session.query("SELECT count(*) FROM t0 WHERE v = 'value 1'").table.num_rows == 1
    session.close()
    assert Session(tmp_path / "schema.yaml").query("SELECT count(*) FROM t0").table.num_rows == 1


def test_another_long_list_of_values_needs_the_owners_word(tmp_path: Path) -> None:
    before = load_schema(many_values(tmp_path, VALUES)).policy
    assert loosened(before, before) == ()
    for other in (VALUES + 1, VALUES - 1, 10):
        after = load_schema(many_values(tmp_path, other)).policy
        assert loosened(before, after) == ("values of t0.v were others",)
        assert loosened(after, before) != ()


def test_a_line_of_a_long_list_is_named(tmp_path: Path) -> None:
    path = many_values(tmp_path, 3)
    path.write_text(path.read_text().replace("value 1,", "\n value 1,\n 7,"))
    with pytest.raises(Exception, match=r"line 10, tables\.t0\.columns\.v\.values\[2\]"):
        load_schema(path)
