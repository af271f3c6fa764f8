"""What a query takes beside its data: each stage apart, on a table of a thousand rows.

    PYTHONPATH=.:tests python -m benchmarks.fixed [--times 50] [--json FILE]

Every statement is a new text, so that all of it is parsed, proved and charged. `whole` is a query
from its text to its table, `stored` the same text again; `disk` is what `whole` takes less once
nothing waits for the disk, and `plain` what the engine takes for the same query without privacy.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from dpsql.bind.parse import parse_query
from dpsql.bind.statement import bind
from dpsql.emit.bounded import emit_release
from dpsql.plan.operator import Release
from dpsql.plan.tree import operators
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.calibrate import calibrate
from dpsql.release.column import columns
from dpsql.release.key import domain_table
from dpsql.release.noise import RawGroups, privatize
from dpsql.rewrite.bound import bound
from dpsql.rewrite.prune import unused
from dpsql.session.grant import grant
from dpsql.session.picking import picked
from dpsql.session.session import Session
from dpsql.session.storage import charge_for, from_bytes, to_bytes
from dpsql.stability.sensitivity import sensitivity

SCHEMA = """\
dataset: people
source: people.duckdb
tables:
  people:
    unit: row
    columns:
      age: {type: integer, bounds: [0, 120]}
      dept: {type: varchar, values: [a, b, c]}
      pay: {type: "decimal(10,2)", bounds: [0, 1000]}
budget: {epsilon: 64, delta: 1.0e-6, accounting: zcdp}
"""
SQL = "SELECT dept, count(*), avg(pay) FROM people WHERE age > {} GROUP BY dept ORDER BY dept"


class Watch:
    """Milliseconds of each stage, run by run."""

    def __init__(self) -> None:
        self.found: dict[str, list[float]] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.found.setdefault(stage, []).append(1000 * (time.perf_counter() - start))

    def medians(self) -> dict[str, float]:
        """Of each stage."""
        return {stage: round(statistics.median(took), 2) for stage, took in self.found.items()}


def main() -> None:
    """Measure, and print or write down what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with TemporaryDirectory() as name:
        found = json.dumps(fixed_costs(Path(name), arguments.times), indent=1) + "\n"
    sys.stdout.write(found)
    if arguments.json is not None:
        arguments.json.write_text(found, encoding="utf-8")


def fixed_costs(folder: Path, times: int) -> Mapping[str, float]:
    """Medians in milliseconds, of a ledger and a source in `folder`."""
    os.environ["DPSQL_STATE"] = str(folder / "state")
    folder.mkdir(exist_ok=True)
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT (i % 90)::INTEGER AS age, "
            "chr(97 + (i % 3)::INTEGER) AS dept, (i * 37 % 1000)::DECIMAL(10, 2) AS pay "
            "FROM range(1000) r(i)"
        )
    path = folder / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    watch, session = Watch(), Session(path, epsilon="0.001")
    session.query(SQL.format(-1))
    for number in range(times):
        sql = SQL.format(number)
        with watch("whole"):
            session.query(sql)
        with watch("stored"):
            session.query(sql)
        with watch("plain"):
            session._execution.source().execute(sql)
        _stages(session, f"{sql} LIMIT 3", watch)
    session._budget()._chain.database.run("PRAGMA synchronous = OFF")
    synced = os.fsync
    os.fsync = lambda _: None
    try:
        for number in range(times):
            with watch("whole, no disk"):
                session.query(SQL.format(1000 + number))
    finally:
        os.fsync = synced
    session.close()
    found = watch.medians()
    return {"disk": round(found["whole"] - found["whole, no disk"], 2), **found}


def _stages(session: Session, sql: str, watch: Watch) -> None:
    """Each stage of `sql`, called as the session calls it."""
    schema, facts = session.schema, session._execution.facts()
    with watch("parse"):
        parse_query(sql)
    with watch("parse and bind"):
        statement = bind(sql, schema)
    with watch("prove"):
        plan = unused(statement.plan)
        (release,) = (p for p in operators(plan) if isinstance(p, Release))
        bounded = bound(release, facts)
        most = sensitivity(bounded, schema.apart)
    with watch("rewrite"):
        query = emit_release(bounded, {})
    with watch("calibrate"):
        measurement = calibrate(bounded, most, grant(schema, session.epsilon))
    prepared, ledger = session.prepare(sql, epsilon="0.002"), session._budget()
    version = session._execution.version()
    charge = charge_for(schema, "analyst", sql, prepared.releases, version, measurement.loss, None)
    with watch("charge"):
        receipt = ledger.charge(charge)
    with watch("engine"):
        tables = {domain.name: domain_table(domain) for domain in query.domains}
        raw = session._execution.source().execute(query.sql, ["0"] * query.salted, tables)
    with watch("noise"):
        groups = privatize(RawGroups(raw.table), bounded, query, measurement, SystemRandomness())
        table = columns(bounded, groups, measurement)
    with watch("keep"):
        answer = to_bytes(table)
        ledger.release(receipt, answer)
    with watch("finish"):
        (only,) = prepared.releases
        picked(prepared, {only.name: from_bytes(answer, only.columns)})


if __name__ == "__main__":
    main()
