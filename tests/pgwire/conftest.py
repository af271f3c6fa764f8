"""A server that several tests share, and a dataset without one: they may spend, not break."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pgwire.shop import Served, make, served

from dpsql.pgwire.limits import Limits
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("shop")) as found:
        yield found


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
