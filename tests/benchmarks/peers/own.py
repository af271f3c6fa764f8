"""dpsql, end to end: each answer is parsed, proved, charged and drawn anew, at an ε of its own."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.shapes import SHAPES as QUERIES
from benchmarks.speed import schema_over
from measured import ORDERS, SHAPES, Rows, measured, show

from dpsql.schema.decode import load_schema
from dpsql.session.ready import open_source, prepare_source
from dpsql.session.session import Session

LIMITS = "{groups: 12, rows_per_group: 24, rows: 40}"
"""Of orders, in the fixture."""


def main() -> None:
    """At (1, 10^-6) for each query, after `dpsql prepare`."""
    folder, runs = Path(sys.argv[1]), int(sys.argv[2])
    with TemporaryDirectory() as place:
        path = schema_over(folder, Path(place)).path
        text = path.read_text(encoding="utf-8")
        limits = f"{{groups: {ORDERS}, rows_per_group: {ORDERS}, rows: {ORDERS}}}"
        text = text.replace(LIMITS, limits)
        head = text.partition("budget:")[0]
        asked = "{epsilon: 64, delta: 1.0e-4, accounting: approx}\n"
        asked += "per_query: {epsilon: 1, max_epsilon: 1, delta: 1.0e-6}\n"
        path.write_text(f"{head}budget: {asked}", encoding="utf-8")
        schema = load_schema(path)
        with open_source(schema) as engine:
            prepare_source(schema, engine)
        session = Session(schema)
        engine = session._execution.source()

        def plain(sql: str) -> Rows:
            table = engine.execute(sql).table
            return list(zip(*(c.to_pylist() for c in table.columns), strict=True))

        def private(sql: str, run: int) -> Rows:
            table = session.query(sql, epsilon=1 - Fraction(run, 10**9)).table
            return list(zip(*(c.to_pylist() for c in table.columns), strict=True))

        show(
            [
                measured(
                    shape,
                    lambda sql=QUERIES[shape]: plain(sql),
                    lambda run, sql=QUERIES[shape]: private(sql, run),
                    runs,
                )
                for shape in SHAPES
            ]
        )
        session.close()


if __name__ == "__main__":
    main()
