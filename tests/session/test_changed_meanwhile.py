"""Data that take the place of others between two steps of one session."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from data.database import attached

import dpsql.session.sidecar as module
from dpsql.engine.opening import open_engine
from dpsql.errors import SourceFault
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.schema.verify import verify_keys
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source, prepare_source

SCHEMA = """\
dataset: shop
source: shop.duckdb
ledger: shop.ledger
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers:
    unit: buyer
    key: buyer
    columns: {buyer: {type: bigint}, kind: {type: bigint, bounds: [0, 9]}}
  sales:
    unit: {column: buyer, references: buyers.buyer}
    limits: {groups: 1, rows_per_group: 1, rows: 1}
    columns: {buyer: {type: bigint}}
budget: {epsilon: 8, accounting: zcdp, delta: 1.0e-6}
"""
BY_KIND = "SELECT kind, count(*) FROM sales JOIN buyers USING (buyer) GROUP BY 1"
COUNTED = "SELECT count(*) FROM buyers"


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    with attached(tmp_path / "shop.duckdb") as connection:
        connection.execute(
            "CREATE TABLE buyers AS SELECT i AS buyer, i % 10 AS kind FROM range(40) r(i);"
            "CREATE TABLE sales AS SELECT i AS buyer FROM range(40) r(i)"
        )
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return load_schema(tmp_path / "schema.yaml")


def prepare(schema: Schema) -> None:
    with open_engine(engine_source(schema)) as engine:
        prepare_source(schema, engine)


def replace_data(schema: Schema) -> None:
    """Other data take the place of those of before: a buyer is of all kinds, and has ten sales."""
    folder = schema.path.parent
    with attached(folder / "next.duckdb") as connection:
        connection.execute(
            "CREATE TABLE buyers AS SELECT 1 AS buyer, i AS kind FROM range(10) r(i);"
            "CREATE TABLE sales AS SELECT 1 AS buyer FROM range(10)"
        )
    (folder / "next.duckdb").replace(folder / "shop.duckdb")


class Barrier:
    """Does `change` when the session says that it begins a step for the n-th time."""

    def __init__(self, step: str, number: int, change: Callable[[], None]) -> None:
        self._step, self._left, self._change = step, number, change

    def __call__(self, step: str) -> None:
        self._left -= step == self._step
        if not self._left:
            self._left = -1
            self._change()


@pytest.mark.parametrize("number", [1, 2])
def test_a_batch_is_of_one_version_of_the_data_although_a_file_is_prepared_meanwhile(
    schema: Schema, number: int
) -> None:
    """A buyer is of one kind, by a key that was verified: no sale is looked for in several.

    Of the data that come then a buyer is of all ten, and would count in each of them.
    """
    with open_engine(engine_source(schema)) as engine:
        assert verify_keys(schema, engine)["buyers"]

    def renewed() -> None:
        replace_data(schema)
        prepare(schema)

    barrier = Barrier("proving what one unit can change", number, renewed)
    with closing(Session(schema, progress=barrier)) as session:
        with pytest.raises(SourceFault, match="connect again"):
            session.batch([BY_KIND, COUNTED])
        assert not session.balance().spent.amount
        # Whatever is asked next, the session has no other data.
        with pytest.raises(SourceFault, match="connect again"):
            session.query(COUNTED)
    with closing(Session(schema)) as session:
        assert session.query(COUNTED).table.num_rows == 1


def test_a_sidecar_that_is_made_meanwhile_of_the_same_data_is_read(schema: Schema) -> None:
    barrier = Barrier("proving what one unit can change", 1, lambda: prepare(schema))
    with closing(Session(schema, progress=barrier)) as session:
        assert len(session.batch([BY_KIND, COUNTED]).answers) == 2
        assert session._context.execution.source().sidecar_tables == {"buyers", "sales"}


def test_no_engine_has_a_sidecar_of_the_data_before_beside_the_data_since(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(schema)

    def changed(*given: Any) -> object:
        stamped = sidecar_of(*given)
        replace_data(schema)
        return stamped

    sidecar_of = module.sidecar_of
    with monkeypatch.context() as patched:
        patched.setattr(module, "sidecar_of", changed)
        with pytest.raises(SourceFault, match="changed"):
            open_source(schema)
    with open_source(schema) as engine:
        assert not engine.sidecar_tables
