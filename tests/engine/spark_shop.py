"""A shop on Spark: tables that their owner changes, and how statements about them fail."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from emit.spark_server import url

from dpsql.dbapi.connection import Connection
from dpsql.engine.spark.session import SparkServerSession
from dpsql.errors import ExecutionFailed

SCHEMA = """\
dataset: shop
source: {source}
version: 1
units:
  person: {{table: {people}, key: id}}
budget: {{epsilon: 60, delta: 1.0e-3, accounting: zcdp}}
per_query: {{epsilon: 1, max_epsilon: 1, delta: 1.0e-6}}
tables:
  {people}:
    unit: person
    key: id
    limits: {{groups: 1, rows_per_group: 1}}
    columns:
      id: {{type: integer, nullable: false}}
      age: {{type: integer, bounds: [0, 120]}}
  {orders}:
    unit: {{column: person, references: {people}.id}}
    limits: {{groups: 2, rows_per_group: 3, rows: 3}}
    columns:
      person: {{type: integer, nullable: false}}
      town: {{type: varchar, values: [Bonn, Kiel, Ulm], nullable: false}}
      word: {{type: varchar}}
      paid: {{type: "decimal(12,2)", bounds: [0, 10]}}
"""
PEOPLE = "SELECT CAST(id + 1 AS INT) AS id, CAST(id % 90 AS INT) AS age FROM RANGE(500)"
ORDERS = (
    "SELECT CAST(1 + id % 500 AS INT) AS person, ELEMENT_AT(ARRAY('Bonn', 'Kiel', 'Ulm'),"
    " CAST(1 + id % 3 AS INT)) AS town, CONCAT('canary-', id % 7) AS word,"
    " CAST(2.5 AS DECIMAL(12,2)) AS paid FROM RANGE(3000)"
)
SECRETS = ("canary", "token", "Spark", "org.apache", "SQLSTATE", "CAST", "127.0.0.1")


class Shop:
    """Two tables of the catalog of `owner`, and the schema that declares them."""

    def __init__(self, owner: SparkServerSession, folder: Path) -> None:
        mark = secrets.token_hex(4)
        self.owner, self.people, self.orders = owner, f"people_{mark}", f"orders_{mark}"
        self.path = folder / "shop.yaml"
        self.run(
            f"CREATE TABLE {self.people} USING parquet AS {PEOPLE}",
            f"CREATE TABLE {self.orders} USING parquet PARTITIONED BY (town) AS {ORDERS}",
        )
        self.names(url())

    @property
    def count(self) -> str:
        """A statement about the orders."""
        return f"SELECT town, count(*) AS n, sum(paid) AS total FROM {self.orders} GROUP BY town"

    @property
    def count_twice(self) -> str:
        """A statement that reads the orders twice."""
        towns = f"SELECT town FROM {self.orders}"
        return f"SELECT town, count(*) AS n FROM ({towns} UNION ALL {towns}) AS t GROUP BY town"

    def names(self, source: str) -> None:
        """Let the schema have another source."""
        text = SCHEMA.format(source=source, people=self.people, orders=self.orders)
        self.path.write_text(text, encoding="utf-8")

    def run(self, *statements: str) -> None:
        """Have the owner do something; {orders} is the table."""
        for statement in statements:
            self.owner.rows(statement.format(orders=self.orders))


def spent(connection: Connection) -> Fraction:
    return connection._session.balance().spent.amount


def before_it_computes(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[SparkServerSession], object]
) -> None:
    """`work` is done after all checks, when the server is about to compute."""
    original = SparkServerSession.rows

    def then(server: SparkServerSession, sql: str, *more: object) -> object:
        if "AS `s0`" in sql:  # a release, and no claim
            work(server)
        return original(server, sql, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(SparkServerSession, "rows", then)


def fails_alike(
    connection: Connection, sql: str, written: pytest.CaptureFixture[str]
) -> ExecutionFailed:
    """It fails with a charge that stands, and says nothing of rows or of why."""
    before = spent(connection)
    with pytest.raises(ExecutionFailed, match="its charge stands") as raised:
        connection.execute(sql)
    out = "".join(written.readouterr())
    for text in (str(raised.value), repr(raised.value), out):
        for secret in SECRETS:
            assert secret not in text, text
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert spent(connection) > before
    return raised.value


def is_exact(connection: Connection, sql: str) -> None:
    """The ledger has one charge of what failed, and the next one is added to it."""
    once, loss = spent(connection), connection._session.compile(sql).loss
    assert loss is not None
    assert float(once) == pytest.approx(float(loss.amount), rel=1e-9)
    assert len(connection.execute(sql).fetchall()) == 3
    assert spent(connection) == 2 * once
