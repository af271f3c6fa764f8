"""A schema drafted from Spark: its catalog's tables, or a folder of Parquet files."""

from __future__ import annotations

import secrets
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from cli.cli_run import Run
from emit.spark_server import url

from dpsql.engine.spark.session import SparkServerSession


def test_a_catalog_is_drafted_and_checked_once_its_owner_has_decided(
    owner: SparkServerSession, run: Run, tmp_path: Path
) -> None:
    mark = secrets.token_hex(4)
    people, orders, text, view = (f"{name}_{mark}" for name in ("people", "orders", "text", "view"))
    for statement in (
        (
            f"CREATE TABLE {people} (id INT COMMENT 'who it is', tags ARRAY<STRING>) USING parquet"
            " COMMENT 'who buys'"
        ),
        f"INSERT INTO {people} SELECT CAST(id AS INT), NULL FROM RANGE(50)",
        (
            f"CREATE TABLE {orders} USING orc AS SELECT CAST(id % 50 AS INT) AS person,"
            " CAST(2.5 AS DECIMAL(12,2)) AS paid, CAST('x' AS STRING) AS note FROM RANGE(300)"
        ),
        f"CREATE TABLE {text} (line STRING) USING csv",
        f"CREATE VIEW {view} AS SELECT * FROM {orders}",
    ):
        owner.rows(statement)
    path = tmp_path / "schema.yaml"
    try:
        ended = run("init", f"{url()}/;user_id=anna", "-o", path)
        assert ended.code == 0, ended.err
        assert "SPARK_CONNECT_AUTHENTICATE_TOKEN" in ended.err
        drafted = path.read_text()
        assert "anna" not in drafted + ended.err
        form = yaml.safe_load(drafted)
        assert form["version"] == 1
        assert form["source"].startswith(url())
        # A view may mix rows of several units; a CSV file has other rows as it is read otherwise.
        assert not {text, view} & set(form["tables"])
        assert form["tables"][people]["comment"] == "who buys"
        assert form["tables"][people]["columns"] == {
            "id": {"type": "integer", "comment": "who it is"}
        }
        assert "# tags: Spark array<string>, which is not read" in drafted
        assert form["tables"][orders]["columns"]["paid"] == {"type": "decimal(12,2)"}
        assert "says neither whose its rows are" in run("check", path).err
        decided = {
            "dataset": f"shop_{mark}",
            "source": url(),
            "version": 1,
            "units": {"person": {"table": people, "key": "id"}},
            "tables": {
                people: form["tables"][people] | {"key": "id", "unit": "person"},
                orders: form["tables"][orders]
                | {"unit": {"column": "person", "references": f"{people}.id"}},
            },
            "budget": {"epsilon": 1, "delta": 1e-6},
        }
        path.write_text(yaml.safe_dump(decided))
        ended = run("check", path)
        assert ended.code == 0, ended.err
        assert ended.out.count("holds") == 1
    finally:
        owner.rows(f"DROP VIEW {view}")
        for table in (people, orders, text):
            owner.rows(f"DROP TABLE {table}")


def test_a_folder_is_drafted_with_its_files_and_folders_of_files(run: Run, tmp_path: Path) -> None:
    shop = tmp_path / "my shop"
    rows = pa.table({"id": pa.array([1, 2], pa.int64())})
    for file in ("people.parquet", "sales/orders.parquet/part-1.parquet", "a/b/c.parquet"):
        (shop / file).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, shop / file)
    pq.write_table(rows, shop / "sales/orders.parquet/part-2.snappy.parquet")
    pq.write_table(rows, shop / "no.table.parquet")
    (shop / "notes.txt").write_text("no table")
    ended = run("init", f"{url()}/;folder={shop}", "-o", "-")
    assert ended.code == 0, ended.err
    form = yaml.safe_load(ended.out)
    assert form["dataset"] == "my-shop"
    assert set(form["tables"]) == {"people", "sales.orders"}
    assert form["tables"]["people"]["columns"] == {"id": {"type": "bigint"}}


def test_a_source_without_tables_is_said_to_have_none(run: Run, tmp_path: Path) -> None:
    ended = run("init", f"{url()}/;folder={tmp_path}", "-o", "-")
    assert ended.code == 1
    assert "has no tables" in ended.err
    assert "TABLE.parquet" in ended.err
