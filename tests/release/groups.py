"""Many independent groups of one vector release each, through a session on real rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.privacy.accounting.loss import Accounting
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.session import Session

ROWS = 64
"""Rows of each group, one of each unit."""

SCHEMA = """
dataset: groups-{accounting}
source: data
units: {{person: {{table: people, key: id}}}}
tables:
  people:
    key: id
    unit: person
    columns:
      id: {{type: bigint, nullable: false}}
      g: {{type: integer, bounds: [0, {last}], nullable: false}}
      x: {{type: integer, bounds: [0, 10], nullable: false}}
      y: {{type: integer, bounds: [0, 8], nullable: false}}
      z: {{type: integer, bounds: [0, 10]}}
      kind: {{type: varchar, values: [a, b, c, d], nullable: false}}
budget: {{epsilon: 64, delta: {delta}, accounting: {accounting}}}
per_query: {{epsilon: 1, max_epsilon: 64}}
"""


@dataclass(frozen=True)
class Answer:
    """A query's columns over all groups, in the order of the groups, and how they were made."""

    columns: dict[str, np.ndarray]
    release: CompiledRelease


def asked(
    folder: Path, groups: int, accounting: Accounting, epsilon: int | Fraction, columns: str
) -> Answer:
    """`SELECT g, columns … GROUP BY g` over `groups` groups of ROWS rows."""
    place = folder / f"{accounting.value}-{groups}"
    schema = place / "schema.yaml"
    if not schema.exists():
        (place / "data").mkdir(parents=True)
        delta = 0 if accounting is Accounting.PURE else "1.0e-6"
        text = SCHEMA.format(last=groups - 1, delta=delta, accounting=accounting.value)
        schema.write_text(text)
        with attached() as connection:
            connection.execute(f"COPY ({rows_sql(groups)}) TO '{place}/data/people.parquet'")
    sql = f"SELECT g, {columns} FROM people GROUP BY g ORDER BY g"
    session = Session(schema, epsilon=epsilon, randomness=SeededRandomness(f"{sql}{accounting}"))
    (release,) = session.compile(sql).releases
    answer = session.query(sql)
    session.close()
    found = dict(
        zip(
            answer.names,
            (_numbers(c) for c in answer.table.columns),
            strict=True,
        )
    )
    assert list(found["g"]) == list(range(groups))
    return Answer(found, release)


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.int64())
    numbers: np.ndarray = column.to_numpy(zero_copy_only=False)
    return numbers


def exact(groups: int, columns: str) -> dict[str, np.ndarray]:
    """The same columns without noise, by DuckDB."""
    sql = f"SELECT g, {columns} FROM ({rows_sql(groups)}) GROUP BY g ORDER BY g"
    with attached() as connection:
        return {name: np.asarray(c) for name, c in connection.sql(sql).fetchnumpy().items()}


def rows_sql(groups: int) -> str:
    """All rows: every group has the same ones, but for their ids."""
    return f"""
SELECT n AS id, (n // {ROWS})::INTEGER AS g, ((i * i + i // 7) % 11)::INTEGER AS x,
  (((i * i + i // 7) % 11 + i % 5) // 2 + 1)::INTEGER AS y,
  CASE WHEN i % 3 > 0 THEN (i % 11)::INTEGER END AS z, substr('aaabbcdd', 1 + i % 8, 1) AS kind
FROM (SELECT range AS n, range % {ROWS} AS i FROM range({ROWS * groups}))
"""
