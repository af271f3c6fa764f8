"""What tables are called doesn't decide whether a statement is answered.

A statement's releases and lists of keys are handed to the engine as tables, beside the declared
ones. One of a declared table's name would hide it, so that the engine refused it: after the charge.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from data.database import attached

from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session

SCHEMA = """
dataset: names
source: names.duckdb
ledger: names.ledger
tables:
  {private}:
    unit: row
    columns:
      kind: {{type: varchar, values: [a, b]}}
      tool: {{type: integer, references: {public}.tool}}
      x: {{type: integer, bounds: [0, 10]}}
  {public}:
    public: true
    key: tool
    columns: {{tool: {{type: integer}}}}
budget: {{epsilon: 50, allow_large_epsilon: true}}
"""

NAMES = [("domain_0", "tools"), ("release_0", "tools"), ("Release_1", "tools"), ("t", "release_0")]


@pytest.mark.parametrize(("private", "public"), NAMES)
@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        # Both keys are listed, and of so many tools the list is a table.
        ("SELECT kind, tool, median(x), count(*) FROM {private} GROUP BY kind, tool", 3 * 301),
        # One release reads another.
        ("SELECT count(*) FROM {private} WHERE x > (SELECT avg(x) FROM {private})", 1),
        # What stands above a release reads a public table, too.
        ("SELECT t.tool FROM {public} t, (SELECT count(*) AS n FROM {private}) c", 300),
    ],
)
def test_any_name_of_a_table_will_do(
    private: str, public: str, sql: str, rows: int, tmp_path: Path
) -> None:
    with attached(tmp_path / "names.duckdb") as source:
        source.execute(f"CREATE TABLE {private} (kind VARCHAR, tool INTEGER, x INTEGER)")
        source.execute(f"INSERT INTO {private} SELECT 'a', range, 5 FROM range(50)")
        source.execute(f"CREATE TABLE {public} AS SELECT range AS tool FROM range(300)")
    text = SCHEMA.format(private=private, public=public)
    (tmp_path / "schema.yaml").write_text(text, encoding="utf-8")
    with closing(Session(load_schema(tmp_path / "schema.yaml"))) as session:
        answer = session.query(sql.format(private=private, public=public))
    assert answer.table.num_rows == rows
