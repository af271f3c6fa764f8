from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy import types


def test_declared_tables_are_there_and_nothing_else(engine: sa.engine.Engine) -> None:
    found = sa.inspect(engine)
    assert found.get_table_names() == ["people", "towns"]
    assert found.get_table_names(schema="main") == ["people", "towns"]
    assert found.get_view_names() == []
    assert found.get_schema_names() == ["main"]
    assert found.default_schema_name == "main"
    assert found.has_table("people")
    assert not found.has_table("person")


def test_columns_have_the_types_of_their_values(engine: sa.engine.Engine) -> None:
    columns = {c["name"]: c for c in sa.inspect(engine).get_columns("people")}
    assert {name: type(column["type"]) for name, column in columns.items()} == {
        "id": types.BigInteger,
        "town": types.String,
        "joined": types.Date,
        "seen": types.TIMESTAMP,
        "cost": types.Numeric,
        "weight": types.Float,
        "smokes": types.Boolean,
        "age": types.SmallInteger,
        "much": types.BigInteger,
    }
    assert (columns["cost"]["type"].precision, columns["cost"]["type"].scale) == (8, 2)  # type: ignore[attr-defined]
    assert columns["cost"]["nullable"] is False
    assert columns["town"]["nullable"] is True


def test_comments_are_the_schemas(engine: sa.engine.Engine) -> None:
    found = sa.inspect(engine)
    assert found.get_table_comment("people") == {"text": "everybody who came"}
    assert found.get_table_comment("towns") == {"text": None}
    comments = {c["name"]: c["comment"] for c in found.get_columns("people")}
    assert comments["town"] == "where they live"
    assert comments["age"] is None


@pytest.mark.parametrize("table", ["people", "towns"])
def test_no_key_offers_the_unit_as_a_group(engine: sa.engine.Engine, table: str) -> None:
    found = sa.inspect(engine)
    assert found.get_pk_constraint(table)["constrained_columns"] == []
    assert found.get_foreign_keys(table) == []
    assert found.get_indexes(table) == []
    assert found.get_unique_constraints(table) == []
    assert found.get_check_constraints(table) == []


def test_a_table_is_reflected_whole(engine: sa.engine.Engine) -> None:
    table = sa.Table("people", sa.MetaData(), autoload_with=engine)
    assert [column.name for column in table.columns][:2] == ["id", "town"]
    assert list(table.primary_key) == []
    assert table.comment == "everybody who came"
    with pytest.raises(sa.exc.NoSuchTableError):
        sa.Table("person", sa.MetaData(), autoload_with=engine)


def test_a_database_is_reflected_whole(engine: sa.engine.Engine) -> None:
    metadata = sa.MetaData()
    metadata.reflect(engine)
    assert set(metadata.tables) == {"people", "towns"}


def test_reflection_costs_nothing(engine: sa.engine.Engine) -> None:
    sa.MetaData().reflect(engine)
    with engine.connect() as connection:
        budget = connection.connection.dbapi_connection.budget  # type: ignore[union-attr]
        assert budget.dataset.epsilon_spent == 0
