"""A connection to the penguins, each bird a unit of its own, with a ledger of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsql.dbapi.connection import Connection
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema
from dpsql.session.session import Session


@pytest.fixture
def schema(fixtures: Path, penguins_folder: Path) -> Schema:
    return load_schema(fixtures / "penguins" / "schema.yaml", source=penguins_folder)


@pytest.fixture
def connection(schema: Schema) -> Iterator[Connection]:
    with Connection(Session(schema, epsilon=1)) as connection:
        yield connection
