"""A SparkSession that Python hands in, in place of the host of `source: sc://`."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from emit.spark_server import url

import dpsql
from dpsql.errors import SchemaFault, SourceFault
from dpsql.schema.load.load import load_schema

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

SCHEMA = """\
dataset: shop_by_{name}
source: {source}
version: 1
units:
  person: {{table: people, key: id}}
budget: {{epsilon: 60, delta: 1.0e-3, accounting: zcdp}}
per_query: {{epsilon: 60, max_epsilon: 60, delta: 1.0e-6}}
tables:
  people:
    unit: person
    key: id
    limits: {{groups: 1, rows_per_group: 1}}
    columns:
      age: {{bounds: [0, 120]}}
"""
COUNT = "SELECT count(*) AS n FROM people WHERE age > 20"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("people")
    rows = "SELECT i::INTEGER AS id, (i % 90)::INTEGER AS age FROM range(900) t(i)"
    duckdb.execute(f"COPY ({rows}) TO '{made / 'people.parquet'}'")
    return made


@pytest.fixture
def given() -> Iterator[SparkSession]:
    """A session of the owner's own, which has settings and a view of theirs."""
    address = url()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, which isn't used
        from pyspark.sql.connect.session import SparkSession as Session

        session = Session.builder.remote(address).create()
        session.conf.set("spark.sql.ansi.enabled", "false")
        session.sql("SELECT 1 AS id, 50 AS age").createOrReplaceTempView("people")
        yield session
        session.stop()


def schema(folder: Path, name: str, source: str) -> Path:
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(name=name, source=source), encoding="utf-8")
    return path


def test_statements_run_in_new_sessions_of_it(
    given: SparkSession, folder: Path, tmp_path: Path
) -> None:
    path = schema(tmp_path, "connect", f"sc:///;folder={folder}")
    with dpsql.connect(path, spark=given) as connection:
        ((count,),) = connection.execute(COUNT).fetchall()
    assert isinstance(count, int)
    assert 640 < count < 740  # of 690, at ε = 60: false by less than 10⁻⁹
    # Neither its settings nor its views are ours, and it goes on.
    assert given.conf.get("spark.sql.ansi.enabled") == "false"
    assert given.table("people").count() == 1


@pytest.mark.slow
def test_one_that_is_not_of_spark_connect_goes_on_too(folder: Path, tmp_path: Path) -> None:
    """In a process of its own: it starts a JVM, which would stay."""
    url()
    path = schema(tmp_path, "classic", f"sc:///;folder={folder}")
    code = f"""
import warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import dpsql
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
with dpsql.connect({str(path)!r}, spark=session) as connection:
    print("counted", connection.execute({COUNT!r}).fetchall()[0][0])
print("goes on", session.range(5).count())
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    counted, goes_on = ended.stdout.strip().splitlines()[-2:]
    assert 640 < int(counted.removeprefix("counted ")) < 740
    assert goes_on == "goes on 5"


def test_a_schema_without_a_host_asks_for_one(tmp_path: Path) -> None:
    for source in ("sc://", "sc:///;folder=/data"):
        with pytest.raises(SchemaFault, match="names no host") as raised:
            load_schema(schema(tmp_path, "nobody", source))
        assert "spark=session" in str(raised.value)


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceFault, match="makes no new ones"):
        dpsql.connect(schema(tmp_path, "nobody", "sc://"), spark="session")
    with pytest.raises(SchemaFault, match="is not on Spark"):
        dpsql.connect(schema(tmp_path, "nobody", "data"), spark="session")
