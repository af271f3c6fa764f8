"""Where no limit binds any unit of the data, what would limit some isn't run."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from data.database import attached
from notes.exact import exact_mechanisms
from privacy.seeded import SeededRandomness

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.opening import open_engine
from dpsql.plan.bounded_release.engine_query import UnlimitedQuery
from dpsql.release.job import Job, Step, run
from dpsql.report.explanation.text_lines import paragraphs
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source, prepare_source
from dpsql.structs import replace

SCHEMA = """\
dataset: shop
source: shop.duckdb
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers: {unit: buyer, key: buyer, columns: {buyer: {type: bigint, nullable: false}}}
  items:
    public: true
    key: item
    columns:
      item: {type: varchar, nullable: false}
      kind: {type: varchar, values: [new, old], nullable: false}
  sales:
    unit: {column: buyer, references: buyers.buyer}
    limits: {groups: 9, rows_per_group: 4, rows: 40}
    columns:
      buyer: {type: bigint, nullable: false}
      item: {type: varchar, nullable: false, references: items.item}
      color: {type: varchar, values: [red, blue], nullable: false}
      price: {type: bigint, bounds: [-5, 100]}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""

FEW = """SELECT i % 50 AS buyer, 'item ' || i % 7 AS item,
    ['red', 'blue'][1 + (i // 50) % 2] AS color, CASE WHEN i % 11 > 0 THEN i % 120 END AS price
    FROM range(400) r(i)"""
"""Each buyer has four rows of each color, so many as count."""

MANY = f"{FEW} UNION ALL SELECT 3, 'item 1', 'red', 7"

SQL = {
    "rows": "SELECT color, count(*), sum(price), avg(price) FROM sales GROUP BY color",
    "joined": "SELECT kind, color, sum(price), count(*) FROM sales JOIN items USING (item)"
    " WHERE price > 3 GROUP BY ALL",
}


def _prepared(folder: Path, rows: str) -> Schema:
    with attached(folder / "shop.duckdb") as connection:
        connection.execute("CREATE TABLE buyers AS FROM range(70) r(buyer)")
        connection.execute(
            "CREATE TABLE items AS SELECT 'item ' || i AS item, ['new', 'old'][1 + i % 2] AS kind"
            " FROM range(7) r(i)"
        )
        connection.execute(f"CREATE TABLE sales AS {rows}")
    path = folder / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    schema = load_schema(path)
    with open_engine(engine_source(schema)) as engine:
        prepare_source(schema, engine)
    return schema


def _compiled(schema: Schema, sql: str) -> tuple[Step, UnlimitedQuery]:
    """What is run for `sql`, without noise, and its shorter statement."""
    with closing(Session(schema)) as session:
        (release,) = session.compile(sql).releases
    step = release.step
    none = exact_mechanisms(len(step.bounded.contributions.statistics))
    assert step.unlimited is not None
    measurement = replace(step.measurement, mechanisms=none)
    return replace(step, measurement=measurement), step.unlimited


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that engines run, in order."""
    found: list[str] = []
    run_one = DuckDBEngine._run

    def noted(self: DuckDBEngine, sql: str, *args: Any, **options: Any) -> pa.Table:
        found.append(sql)
        return run_one(self, sql, *args, **options)

    monkeypatch.setattr(DuckDBEngine, "_run", noted)
    return found


def _answer(schema: Schema, steps: tuple[Step, ...]) -> list[pa.Table]:
    with open_source(schema) as engine:
        return [
            table
            for step in steps
            for table in run(
                Job(engine_source(schema), (step,)), engine, SeededRandomness("a")
            ).values()
        ]


@pytest.mark.parametrize("sql", SQL.values(), ids=SQL)
@pytest.mark.parametrize("rows", [FEW, MANY], ids=["few", "many"])
def test_units_are_limited_only_where_any_has_too_many_rows(
    tmp_path: Path, statements: list[str], sql: str, rows: str
) -> None:
    schema = _prepared(tmp_path, rows)
    step, unlimited = _compiled(schema, sql)
    statements.clear()
    answer, whole = _answer(schema, (step, replace(step, unlimited=None)))
    chosen = unlimited.query.sql if rows is FEW else step.query.sql
    assert statements == [unlimited.limited_rows, chosen, step.query.sql]
    assert answer == whole
    assert answer.num_rows > 1


def test_whether_units_have_too_many_rows_is_looked_up_once(
    tmp_path: Path, statements: list[str]
) -> None:
    schema = _prepared(tmp_path, FEW)
    step, unlimited = _compiled(schema, SQL["rows"])
    other, others = _compiled(
        schema, SQL["rows"].replace("FROM sales", "FROM sales WHERE price > 7")
    )
    statements.clear()
    _answer(schema, (step, step, other))
    assert others.limited_rows == unlimited.limited_rows
    assert statements.count(unlimited.limited_rows) == 1


def test_which_statement_is_run_is_not_explained(tmp_path: Path) -> None:
    schema = _prepared(tmp_path, FEW)
    few = _explained(schema)
    (tmp_path / "shop.duckdb").unlink()
    assert few == _explained(_prepared(tmp_path, MANY))


def _explained(schema: Schema) -> str:
    with closing(Session(schema)) as session:
        return "\n".join(paragraphs(session.explain(SQL["rows"]), sql=True))
