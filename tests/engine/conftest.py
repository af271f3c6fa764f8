"""Engines over one small source in each of its forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.cli_run import Run, runner
from emit.spark_server import url
from engine.people import CANARY, source

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.postgres.connection import ServerConnection
from dpsql.engine.source import SparkSource
from dpsql.engine.spark.session import SparkServerSession


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    rows = pa.table(
        {
            "id": pa.array([1, 2, None], pa.int64()),
            "word": [CANARY, "7", ""],
            "price": [0.5, float("nan"), None],
            "hidden": [CANARY, CANARY, CANARY],
        }
    )
    pq.write_table(rows, folder / "people.parquet")
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.register("rows", rows)
        connection.execute("CREATE TABLE people AS SELECT * FROM rows")
        connection.execute("CREATE VIEW looking AS SELECT * FROM people")
    (folder / "people.csv").write_text(
        f'id,word,price,hidden\r\n1,{CANARY},0.5,{CANARY}\r\n2,7,nan,{CANARY}\r\n,"",,{CANARY}\r\n',
        newline="",
    )
    return folder


@pytest.fixture(scope="session", params=["duckdb", "parquet", "csv"])
def engine(files: Path, request: pytest.FixtureRequest) -> Iterator[DuckDBEngine]:
    with DuckDBEngine(source(files, request.param)) as engine:
        yield engine


@pytest.fixture(scope="session")
def parquet_engine(files: Path) -> Iterator[DuckDBEngine]:
    with DuckDBEngine(source(files, "parquet")) as engine:
        yield engine


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that servers compute from now on."""
    texts: list[str] = []
    original = ServerConnection.computed

    def noted(server: ServerConnection, sql: str, parameters: list[str]) -> pa.Table:
        texts.append(sql)
        return original(server, sql, parameters)

    monkeypatch.setattr(ServerConnection, "computed", noted)
    return texts


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line, in this process."""
    return runner(monkeypatch)


@pytest.fixture
def owner() -> Iterator[SparkServerSession]:
    """A session on Spark of the owner's, who changes tables."""
    session = SparkServerSession(SparkSource(url()))
    yield session
    session.close()
