"""dpsql, end to end: each answer is parsed, proved, charged and drawn anew, at an ε of its own."""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers.measured import LINES, ORDERS, SHAPES, Rows, measured, show
from benchmarks.shapes import SHAPES as QUERIES
from benchmarks.speed import schema_over

from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.privacy.over_groups import OverGroups
from dpsql.schema.load.load import load_schema
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source, prepare_source

LIMITS = {
    "{groups: 12, rows_per_group: 24, rows: 40}": (
        f"{{groups: {ORDERS}, rows_per_group: {ORDERS}, rows: {ORDERS}}}"
    ),
    "{groups: 12, rows_per_group: 60, rows: 120}": (
        f"{{groups: 84, rows_per_group: {LINES}, rows: {LINES}}}"
    ),
}
"""Of orders and lines: the fixture's, and what is as much as the others are given."""

TOLD = ContributionLimits(groups=8, rows_per_group=2, over_groups=OverGroups.SCALE)
"""OPTIONS (groups = 8, rows_per_group = 2, over_groups = scale): hardly any customer has more than
two orders of a clerk, and one with 32 of as many clerks is counted whole."""


def main() -> None:
    """At (1, 10^-6) for each query, after `dpsql prepare`."""
    folder, runs = Path(sys.argv[1]), int(sys.argv[2])
    with TemporaryDirectory() as place:
        path = schema_over(folder, Path(place)).path
        text = path.read_text(encoding="utf-8")
        for fixture, limits in LIMITS.items():
            text = text.replace(fixture, limits)
        head = text.partition("budget:")[0]
        asked = "{epsilon: 64, delta: 1.0e-4, accounting: approx}\n"
        asked += "per_query: {epsilon: 1, max_epsilon: 1, delta: 1.0e-6}\n"
        path.write_text(f"{head}budget: {asked}", encoding="utf-8")
        schema = load_schema(path)
        with open_source(schema) as opened:
            prepare_source(schema, opened)
        session = Session(schema)
        engine = session._context.execution.source()

        def plain(sql: str) -> Rows:
            table = engine.execute(sql).table
            return list(zip(*(c.to_pylist() for c in table.columns), strict=True))

        def private(shape: str, limits: ContributionLimits, run: int) -> Rows:
            # Noise is rounded: of nearly the same ε it would be the same, and the answer stored.
            epsilon = 1 - Fraction(run, 1000)
            options = QueryOptions(epsilon, limits)
            answer = session.query(QUERIES[shape], options)
            if answer.privacy.stored:
                raise AssertionError("nothing was drawn")
            table = answer.table
            return list(zip(*(c.to_pylist() for c in table.columns), strict=True))

        ways = [(name, name, AS_DECLARED) for name in SHAPES]
        ways.insert(SHAPES.index("clerk") + 1, ("clerk, told", "clerk", TOLD))
        found = []
        for told, name, each in ways:
            run_both = partial(plain, QUERIES[name]), partial(private, name, each)
            found.append({**measured(name, *run_both, runs), "shape": told})
        show(found)
        session.close()


if __name__ == "__main__":
    main()
