"""The targets of attacks: the same synthetic rows in plain DuckDB and behind dpsql."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Protocol

import duckdb
import pyarrow as pa
from msgspec import Struct

from dpsql.schema.load.load import load_schema
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session
from dpsql.structs import replace

DELTA = Fraction(1, 10**9)
"""The δ of a statement that shows unlisted keys."""

_PEOPLE_SCHEMA = """
dataset: attacked
source: attacked.duckdb
ledger: ledger.db
tables:
  people:
    unit: row
    columns:
      trial: {{type: integer, bounds: [0, {trials}]}}
      id: {{type: integer, bounds: [0, {people}]}}
      secret: {{type: boolean, nullable: false}}
      town: {{type: varchar}}
budget: {{epsilon: 64, delta: 0.001, accounting: approx}}
per_query: {{epsilon: 1, max_epsilon: 64, delta: {delta}}}
"""


class Target(Protocol):
    """A database that answers an attacker's statements."""

    def ask(self, sql: str, epsilon: Fraction) -> list[tuple[object, ...]]:
        """The rows that answer `sql`, at a loss of `epsilon`."""


class DuckDBTarget(Struct, frozen=True):
    """DuckDB as it is."""

    connection: duckdb.DuckDBPyConnection

    def ask(self, sql: str, epsilon: Fraction) -> list[tuple[object, ...]]:
        """The exact rows, without a charge."""
        del epsilon
        return self.connection.execute(sql).fetchall()


class DpsqlTarget(Struct, frozen=True):
    """A session of dpsql, with its proofs, charges, noise and stored answers."""

    session: Session

    def ask(self, sql: str, epsilon: Fraction) -> list[tuple[object, ...]]:
        """The noisy rows, charged to the session's ledger."""
        table = self.session.query(sql, QueryOptions(epsilon)).table
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def charges(self) -> Fraction:
        """The ε that was spent in total."""
        return self.session.balance().spent.amount


Person = tuple[int, int, bool, str]
"""The number of the trial, the id in it, the secret, and the town."""


def cohort(trial: int, people: int, random: Random) -> list[Person]:
    """The people of one trial, whose secrets are fair coins."""
    return [(trial, n, random.random() < 0.5, "everywhere") for n in range(people)]


class Dataset(Struct, frozen=True):
    """Tables by name, and the text of a schema of them whose source is `attacked.duckdb`."""

    tables: Mapping[str, pa.Table]
    schema: str


def dataset(people: list[Person]) -> Dataset:
    """The table `people` of all trials."""
    columns = zip(*people, strict=True)
    names = ("trial", "id", "secret", "town")
    text = _PEOPLE_SCHEMA.format(
        people=max(p[1] for p in people), trials=max(p[0] for p in people), delta=float(DELTA)
    )
    return Dataset({"people": pa.table(dict(zip(names, map(list, columns), strict=True)))}, text)


@contextmanager
def targets(data: Dataset) -> Iterator[tuple[DuckDBTarget, DpsqlTarget]]:
    """Both targets over the same rows, in a temporary folder with a ledger of its own."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with duckdb.connect(str(folder / "attacked.duckdb")) as file:
            for table, rows in data.tables.items():
                file.register("rows", rows)
                file.execute(f'CREATE TABLE "{table}" AS FROM rows')
                file.unregister("rows")
        (folder / "schema.yaml").write_text(data.schema, encoding="utf-8")
        schema = load_schema(folder / "schema.yaml")
        # Every trial has people of its own, and a loss of its own; the cap of all isn't attacked.
        budget = replace(schema.budget, epsilon=Fraction(10**6))
        schema = replace(schema, anchor=folder / "ledger.anchor", budget=budget)
        session = Session(schema)
        with duckdb.connect(":memory:") as plain:
            path = str(folder / "attacked.duckdb").replace("'", "''")
            plain.execute(f"ATTACH '{path}' AS held (READ_ONLY)")
            plain.execute("USE held")
            try:
                yield DuckDBTarget(plain), DpsqlTarget(session)
            finally:
                session.close()
                plain.execute("USE memory")
                plain.execute("DETACH held")
