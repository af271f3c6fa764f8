from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.engine.opening import open_engine
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import EntityUnit, Hop, Public, RowUnit
from dpsql.schema.verify import verify_keys


def test_tpch_is_what_the_generator_writes(fixtures: Path, tpch_folder: Path) -> None:
    declared = load_schema(fixtures / "tpch" / "schema.yaml")
    schema = load_schema(fixtures / "tpch" / "schema.yaml", source=tpch_folder)
    assert schema.tables == declared.tables
    assert schema.policy_hash == declared.policy_hash
    with open_engine(engine_source(schema)) as engine:
        for name, table in schema.tables.items():
            found = tuple((column.name, str(column.type)) for column in table.columns.values())
            assert found == engine.columns(name)
        assert set(verify_keys(schema, engine).values()) == {True}
        rows = engine.execute("SELECT count(*) AS n FROM lineitem").table
        assert rows["n"][0].as_py() == 60175


@pytest.mark.parametrize("name", ["tpch", "penguins"])
def test_the_data_lie_within_their_domains(
    fixtures: Path, tpch_folder: Path, penguins_folder: Path, name: str
) -> None:
    """They come from the specification, so generated data prove nothing, but they can refute."""
    folder = tpch_folder if name == "tpch" else penguins_folder
    schema = load_schema(fixtures / name / "schema.yaml", source=folder)
    with open_engine(engine_source(schema)) as engine:
        for table in schema.tables.values():
            outside = ["false"]
            for column in table.columns.values():
                if not column.nullable:
                    outside.append(f"{column.name} IS NULL")
                if column.bounds is not None:
                    low, high = (f"'{bound}'::{column.type}" for bound in map(text, column.bounds))
                    outside.append(f"{column.name} NOT BETWEEN {low} AND {high}")
                if column.values is not None:
                    values = ", ".join(f"'{value}'" for value in column.values)
                    outside.append(f"{column.name} NOT IN ({values})")
            statement = f"SELECT * FROM {table.name} WHERE {' OR '.join(outside)} LIMIT 1"
            assert engine.execute(statement).table.num_rows == 0, table.name


def text(value: object) -> str:
    return str(float(value)) if isinstance(value, int | Fraction) else str(value)


def test_the_paths_of_tpch_lead_to_customers(fixtures: Path) -> None:
    tables = load_schema(fixtures / "tpch" / "schema.yaml").tables
    hop = Hop(("l_orderkey",), "orders", ("o_orderkey",))
    assert tables["lineitem"].ownership == EntityUnit("customer", (hop,), "o_custkey")
    assert tables["orders"].ownership == EntityUnit("customer", (), "o_custkey")
    public = {name for name, table in tables.items() if table.ownership == Public()}
    assert public == {"part", "supplier", "partsupp", "nation", "region"}


def test_the_clinic_needs_no_data(fixtures: Path) -> None:
    tables = load_schema(fixtures / "clinic" / "schema.yaml").tables
    hop = Hop(("visit_id",), "visits", ("visit_id",))
    assert tables["tests"].ownership == EntityUnit("patient", (hop,), "patient_id")
    assert tables["readings"].ownership == RowUnit()
    assert all(column.nullable for table in tables.values() for column in table.columns.values())


def test_the_penguins_are_the_complete_ones(fixtures: Path, penguins_folder: Path) -> None:
    schema = load_schema(fixtures / "penguins" / "schema.yaml", source=penguins_folder)
    with open_engine(engine_source(schema)) as engine:
        statement = "SELECT count(*) AS n, count(*) FILTER (species = 'Adelie') AS a FROM penguins"
        assert engine.execute(statement).table.to_pylist() == [{"n": 333, "a": 146}]
