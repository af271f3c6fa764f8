"""The core with its declared dependencies and nothing else: .ci/lowest runs this in a fresh venv.

No test dependency may be imported here; what fails, fails as an assertion.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

SCHEMA = """\
dataset: shop
source: data
units:
  person: {table: people, key: id}
tables:
  people:
    key: id
    unit: person
    columns:
      id: {type: bigint}
      town: {type: varchar, values: [a, b, c]}
      age: {type: smallint, bounds: [0, 120]}
  orders:
    unit: {column: person, references: people.id}
    limits: {groups: 4, rows_per_group: 4}
    columns:
      person: {type: bigint}
      item: {type: varchar}
      units: {type: usmallint, bounds: [0, 10]}
      paid: {type: "decimal(9,2)", bounds: [0, 100]}
      weight: {type: double, bounds: [0, 1]}
      at: {type: date, bounds: [2024-01-01, 2024-12-31]}
  clicks:
    unit: {column: person, references: people.id}
    columns: {person: {type: bigint}, page: {type: varchar, values: [x, y]}}
budget: {epsilon: 60, delta: 1e-3, accounting: approx}
per_query: {epsilon: 1, delta: 1e-6}
"""

QUERIES = (
    "SELECT count(*) FROM people",
    "SELECT town, count(*), avg(age), sum(age) FROM people GROUP BY town",
    "SELECT town, min(age), median(age), stddev(age) FROM people GROUP BY town",
    "SELECT item, count(*), sum(units), sum(paid), avg(weight) FROM orders GROUP BY item",
    "SELECT date_trunc('month', at), count(DISTINCT person) FROM orders GROUP BY 1 ORDER BY 1",
    "SELECT p.town, sum(o.paid) FROM people p JOIN orders o ON o.person = p.id GROUP BY p.town",
    "SELECT town, count(*) AS n, rank() OVER (ORDER BY count(*)) FROM people GROUP BY town",
    "SELECT page, count(*) FROM clicks GROUP BY page",
    "SELECT sum(age), sum(units) FROM people, orders WHERE orders.person = people.id",
)


def main() -> None:
    assert importlib.util.find_spec("pandas") is None, "pandas hides what pyarrow alone can't do"
    import dpsql

    _copies_are_checked()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["DPSQL_STATE"] = str(folder / "state")
        schema = _dataset(folder)
        for kind in ("files", "prepared files"):
            if kind == "prepared files":
                _dpsql("prepare", str(schema))
            with dpsql.connect(schema, analyst=kind) as connection:
                for query in QUERIES:
                    cursor = connection.execute(query)
                    assert cursor.fetchall(), query
                    assert cursor.execute(query).fetch_arrow_table().num_rows, query
                    assert connection.explain(query), query
        _dpsql("check", str(schema))
        _dpsql("query", str(schema), QUERIES[1], "--format", "csv")
        _dpsql("query", str(schema), QUERIES[1], "--format", "parquet")
        _dpsql("explain", str(schema), QUERIES[1])
        _refusal_names_a_page(schema)
        assert "</table>" in _dpsql("explain", str(schema), QUERIES[1], "--format", "html")
        _dpsql("budget", str(schema), "--html", str(folder / "budget.html"))
        assert "<svg" in (folder / "budget.html").read_text(encoding="utf-8")
        assert "epsilon" in _dpsql("budget", str(schema))
        _dpsql("ledger", "verify", str(schema))
        assert "salary, to the last digit" in _dpsql("demo")
        _serve(schema)
    versions = ", ".join(
        f"{module} {_version(module)}" for module in ("duckdb", "numpy", "pyarrow")
    )
    print(f"the core alone answers on Python {sys.version.split()[0]}, {versions}")  # noqa: T201 - it is a program


def _copies_are_checked() -> None:
    from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
    from dpsql.structs import replace

    try:
        replace(PrivacyLoss(Accounting.PURE, Fraction(1)), amount=Fraction(-1))
    except ValueError:
        return
    raise AssertionError("a copy is not checked: msgspec is too old")


def _dataset(folder: Path) -> Path:
    data = folder / "data"
    data.mkdir()
    people = {
        "id": pa.array(range(600), pa.int64()),
        "town": ["abc"[n % 3] for n in range(600)],
        "age": pa.array([n % 90 for n in range(600)], pa.int16()),
    }
    orders = {
        "person": pa.array([n % 600 for n in range(1800)], pa.int64()),
        "item": [("tea", "milk")[n % 2] for n in range(1800)],
        "units": pa.array([n % 10 for n in range(1800)], pa.uint16()),
        "paid": pa.array([Decimal(n % 100) for n in range(1800)], pa.decimal128(9, 2)),
        "weight": [n % 7 / 7 for n in range(1800)],
        "at": [date(2024, 1, 1) + timedelta(n % 360) for n in range(1800)],
    }
    pq.write_table(pa.table(people), data / "people.parquet")
    pq.write_table(pa.table(orders), data / "orders.parquet")
    clicks = {"person": list(range(600)), "page": ["xy"[n % 2] for n in range(600)]}
    pc.write_csv(pa.table(clicks), data / "clicks.csv")
    path = folder / "schema.yaml"
    path.write_text(SCHEMA)
    return path


def _dpsql(*arguments: str) -> str:
    command = [sys.executable, "-m", "dpsql.cli", *arguments]
    ended = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert ended.returncode == 0, (arguments, ended.stderr.decode(errors="replace"))
    return ended.stdout.decode(errors="replace")


def _refusal_names_a_page(schema: Path) -> None:
    command = [sys.executable, "-m", "dpsql.cli", "query", str(schema), "SELECT age FROM people"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 1, ended.stderr
    (page,) = (line for line in ended.stderr.splitlines() if line.startswith("see: "))
    assert "://" in page or Path(page.removeprefix("see: ")).is_file(), page


def _serve(schema: Path) -> None:
    command = [sys.executable, "-m", "dpsql.cli", "serve", str(schema), "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    told = []
    for line in server.stderr:
        told.append(line)
        if line.startswith("listening"):
            break
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=60)
    assert server.returncode == 0, told
    assert told[-1].startswith("listening"), told


def _version(module: str) -> str:
    return str(importlib.import_module(module).__version__)


if __name__ == "__main__":
    main()
