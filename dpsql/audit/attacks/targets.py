"""The targets of attacks: the same synthetic people in plain DuckDB and behind dpsql."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Protocol

import duckdb

from dpsql.schema.load.load import load_schema
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

DELTA = Fraction(1, 10**9)
"""The δ of a statement that shows unlisted keys."""

_SCHEMA = """
dataset: attacked
source: people.duckdb
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


@dataclass(frozen=True, slots=True)
class DuckDBTarget:
    """DuckDB as it is."""

    connection: duckdb.DuckDBPyConnection

    def ask(self, sql: str, epsilon: Fraction) -> list[tuple[object, ...]]:
        """The exact rows, without a charge."""
        del epsilon
        return self.connection.execute(sql).fetchall()


@dataclass(frozen=True, slots=True)
class DpsqlTarget:
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


@contextmanager
def targets(people: list[Person]) -> Iterator[tuple[DuckDBTarget, DpsqlTarget]]:
    """Both targets over the same rows, in a temporary folder with a ledger of its own."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with duckdb.connect(str(folder / "people.duckdb")) as file:
            file.execute("CREATE TABLE people (trial INT, id INT, secret BOOLEAN, town VARCHAR)")
            file.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people)
        max_ids = max(p[1] for p in people), max(p[0] for p in people)
        text = _SCHEMA.format(people=max_ids[0], trials=max_ids[1], delta=float(DELTA))
        (folder / "schema.yaml").write_text(text, encoding="utf-8")
        schema = load_schema(folder / "schema.yaml")
        # Every trial has people of its own, and a loss of its own; the cap of all isn't attacked.
        budget = replace(schema.budget, epsilon=Fraction(10**6))
        schema = replace(schema, anchor=folder / "ledger.anchor", budget=budget)
        session = Session(schema)
        with duckdb.connect(":memory:") as plain:
            path = str(folder / "people.duckdb").replace("'", "''")
            plain.execute(f"ATTACH '{path}' AS held (READ_ONLY)")
            plain.execute("USE held")
            try:
                yield DuckDBTarget(plain), DpsqlTarget(session)
            finally:
                session.close()
                plain.execute("USE memory")
                plain.execute("DETACH held")
