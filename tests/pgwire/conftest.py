"""A server that several tests share, and a dataset without one: they may spend, not break."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from pgwire import asked_of_both
from pgwire.shop import Served, make, served

from dpsql.pgwire.limits import Limits
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("shop")) as found:
        yield found


@pytest.fixture(scope="session")
def server_of_both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """dpsql with the table of statements that both servers are asked."""
    folder = tmp_path_factory.mktemp("both")
    asked_of_both.make(folder)
    with served(folder) as found:
        yield found


@pytest.fixture(scope="module")
def ours(server_of_both: Served) -> Iterator[Any]:
    """A connection to dpsql, with no settings of another module's tests."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server_of_both.dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def theirs() -> Iterator[Any]:
    """A connection to PostgreSQL with the same table; tests are skipped where there is none."""
    psycopg = pytest.importorskip("psycopg")
    if not os.environ.get("DPSQL_POSTGRES"):
        pytest.skip("DPSQL_POSTGRES names no server")
    with psycopg.connect(os.environ["DPSQL_POSTGRES"], autocommit=True) as connection:
        asked_of_both.fill(connection)
        yield connection


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """What a server opens, with one worker and three seconds for a question of the catalogue."""
    folder = tmp_path_factory.mktemp("dataset")
    path = make(folder, customers=20, orders=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSQL_STATE", str(folder / "state"))
        found = Dataset(path, Limits(workers=1, catalog_seconds=3))
    try:
        yield found
    finally:
        found.close()


@pytest.fixture
def alice(dataset: Dataset) -> Iterator[QueryService]:
    found = QueryService(dataset, "alice")
    yield found
    found.close()


@pytest.fixture
def bob(dataset: Dataset) -> Iterator[QueryService]:
    found = QueryService(dataset, "bob")
    yield found
    found.close()
