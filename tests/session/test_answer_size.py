"""Answers that are larger than their schema allows: refused before a charge, where keys tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness
from session.asking import Asking

from dpsql.errors import TooComplex
from dpsql.report.explanation.text_lines import paragraphs
from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session

SCHEMA = """
dataset: people
source: people.duckdb
tables:
  people:
    unit: row
    columns:
      age: {type: integer, bounds: [0, 19], nullable: false}
      town: {type: varchar}
  towns: {public: true, columns: {town: {type: varchar}}}
budget: {epsilon: 60, delta: 1.0e-6}
per_query: {epsilon: 5, LIMITS}
"""


@pytest.fixture
def limits() -> str:
    return "max_rows: 12, max_megabytes: 1"


@pytest.fixture
def asked(tmp_path: Path, limits: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    (tmp_path / "schema.yaml").write_text(SCHEMA.replace("LIMITS", limits))
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i % 20 AS age, 'town ' || i % 15 AS town"
            " FROM range(30000) t(i); CREATE TABLE towns AS SELECT DISTINCT town FROM people"
        )
    asking = Asking(
        Session(load_schema(tmp_path / "schema.yaml"), randomness=SeededRandomness("answer size"))
    )
    yield asking
    asking.close()


def spent(asked: Asking) -> object:
    return asked.balance()


def test_listed_keys_are_too_many_before_the_charge(asked: Asking) -> None:
    sql = "SELECT age, count(*) FROM people GROUP BY age"
    before = spent(asked)
    with pytest.raises(TooComplex, match="more rows by its keys alone than 12 rows and 1 MB"):
        asked.query(sql)
    assert spent(asked) == before
    told = "\n".join(paragraphs(asked.explain(sql), sql=False))
    assert "at most 12 rows and 1 MB; this one is refused, since its keys alone make more" in told
    assert asked.query("SELECT age // 2, count(*) FROM people GROUP BY 1").table.num_rows == 10


def test_keys_that_noise_selects_are_counted_after_the_charge(asked: Asking) -> None:
    before = spent(asked)
    with pytest.raises(TooComplex, match="is larger than 12 rows and 1 MB") as refusal:
        asked.query("SELECT town, count(*) FROM people GROUP BY town")
    assert refusal.value.detail == "what was charged for it stands"
    assert spent(asked) != before
    told = "\n".join(paragraphs(asked.explain("SELECT count(*) FROM people"), sql=False))
    assert "an answer has at most 12 rows and 1 MB\n" in told


def test_what_stands_above_a_release_is_stopped_at_the_limit(asked: Asking) -> None:
    counts = "(SELECT age // 2 AS a, count(*) AS n FROM people GROUP BY 1)"
    joined = f"SELECT x.a, y.n FROM {counts} AS x CROSS JOIN {counts} AS y"
    with pytest.raises(TooComplex, match="is larger than"):
        asked.query(joined)
    before = spent(asked)
    assert asked.query(f"{joined} ORDER BY x.a, y.n LIMIT 3").table.num_rows == 3
    assert spent(asked) == before  # what it is made of was kept


@pytest.mark.parametrize("limits", ["max_rows: 1000000, max_megabytes: 1"])
def test_bytes_are_limited_too(asked: Asking) -> None:
    ages = "(SELECT age AS {0} FROM (SELECT age, count(*) FROM people GROUP BY age))"
    three, four = (" CROSS JOIN ".join(map(ages.format, names)) for names in ("abc", "abcd"))
    assert asked.query(f"SELECT a, b, c FROM {three}").table.num_rows == 8_000
    with pytest.raises(TooComplex, match="is larger than 1,000,000 rows and 1 MB"):
        asked.query(f"SELECT a, b, c, d FROM {four}")


def test_answers_over_public_tables_are_no_larger(asked: Asking) -> None:
    assert asked.query("SELECT town FROM towns ORDER BY town LIMIT 12").table.num_rows == 12
    with pytest.raises(TooComplex, match="is larger than 12 rows"):
        asked.query("SELECT town FROM towns")
