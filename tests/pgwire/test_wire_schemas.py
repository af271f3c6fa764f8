"""Several schemas, and views, as PostgreSQL's clients list and name them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from data.database import attached
from pgwire.shop import Served, psql, served

SCHEMA = """\
dataset: works
source: works.duckdb
units:
  worker: {table: staff.people, key: id}
tables:
  staff.people:
    key: id
    unit: worker
    comment: who works here
    columns: {id: {type: bigint}, age: {type: integer, bounds: [0, 120]}}
  plant.shifts:
    unit: {column: person, references: staff.people.id}
    columns:
      person: {type: bigint}
      hours: {type: integer, bounds: [0, 12]}
      site: {type: bigint, references: plant.sites.id}
  shop.shifts:
    unit: {column: person, references: staff.people.id}
    limits: {groups: 1, rows_per_group: 1, rows: 1}
    columns: {person: {type: bigint}, hours: {type: integer, bounds: [0, 8]}}
  plant.sites: {public: true, key: id}
  sites: {public: true, key: id}
  hidden.names:
    visible: false
    unit: {column: person, references: staff.people.id}
    columns: {person: {type: bigint}}
views:
  staff.adults: {query: "SELECT id, age FROM staff.people WHERE age >= 18"}
budget: {epsilon: 60, delta: 1.0e-6}
per_query: {epsilon: 1}
"""
DATA = """
CREATE SCHEMA staff; CREATE SCHEMA plant; CREATE SCHEMA shop; CREATE SCHEMA hidden;
CREATE TABLE staff.people AS SELECT i::BIGINT AS id, (i % 90)::INT AS age FROM range(900) t(i);
CREATE TABLE plant.shifts AS
    SELECT i::BIGINT AS person, 8::INT AS hours, 1::BIGINT AS site FROM range(900) t(i);
CREATE TABLE shop.shifts AS SELECT i::BIGINT AS person, 5::INT AS hours FROM range(300) t(i);
CREATE TABLE plant.sites AS SELECT 1::BIGINT AS id, 'plant' AS town;
CREATE TABLE sites AS SELECT 1::BIGINT AS id, 'main' AS town;
CREATE TABLE hidden.names AS SELECT 1::BIGINT AS person;
CREATE TABLE "plant.sites" AS SELECT 7::BIGINT AS id, 'a name with a dot' AS town;
"""


def make(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with attached(folder / "works.duckdb") as connection:
        connection.execute(DATA)
    (folder / "schema.yaml").write_text(SCHEMA)
    return folder / "schema.yaml"


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("works")
    make(folder)
    with served(folder) as found:
        yield found


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql isn't installed")
@pytest.mark.parametrize(
    ("command", "shown", "unseen"),
    [
        (r"\dn", ["plant", "public", "shop", "staff"], ["hidden", "main"]),
        (r"\dt plant.*", ["shifts", "sites"], ["people"]),
        (r"\dv staff.*", ["adults"], ["people"]),
        (r"\d staff.people", ["age", "integer"], ["hours"]),
        (r"\d staff.adults", ['View "staff.adults"', "age"], ["hours"]),
        (r"\d plant.shifts", ["REFERENCES plant.sites(id)"], []),
        (r"\d sites", ['Table "public.sites"', "town"], ["plant"]),
        # What is found by its name alone is in the list; sites of the plant and shifts aren't.
        (r"\d", ["public | sites", "staff  | people", "staff  | adults"], ["shifts", "plant"]),
        (r"\dt+ staff.people", ["who works here"], []),
    ],
)
def test_psql_lists_schemas(
    works: Served, command: str, shown: list[str], unseen: list[str]
) -> None:
    out, err = psql(works, command)
    assert not err
    assert not [text for text in shown if text not in out], out
    assert not [text for text in unseen if re.search(rf"\b{text}\b", out)], out


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql isn't installed")
def test_statements_name_tables_with_their_schemas(works: Served) -> None:
    out, err = psql(
        works,
        'SELECT town FROM "plant"."sites"',
        "SELECT town FROM works.plant.sites s",
        "SELECT public.sites.town FROM public.sites",
        "SELECT sites.town FROM sites",
        "SELECT s.town, t.town FROM sites s JOIN plant.sites t ON s.id = t.id",
        options=("-At",),
    )
    assert not err
    assert out.splitlines() == ["plant", "plant", "main", "main", "main|plant"]
    out, err = psql(works, "SELECT count(*) / 2 FROM shop.shifts", options=("-At",))
    assert re.fullmatch(r"-?\d+\n", out)
    assert abs(int(out) - 150) < 60  # within the noise of one row, but for one in 1e-9
    _, err = psql(works, "SELECT count(*) FROM shifts")
    assert "HINT:  write plant.shifts or shop.shifts" in err
    _, err = psql(works, "SELECT count(*) FROM hidden.names")
    assert 'relation "hidden.names" does not exist' in err


def test_both_dialects_of_sqlalchemy_tell_the_same(works: Served) -> None:
    pg = sa.create_engine(f"postgresql+psycopg://alice@127.0.0.1:{works.port}/works")
    ours = sa.create_engine(f"dpsql:///{works.schema}")
    found, own = sa.inspect(pg), sa.inspect(ours)
    assert own.get_schema_names() == ["main", "plant", "shop", "staff"]
    listed = set(found.get_schema_names()) - {"information_schema"}
    assert listed == {"public", "plant", "shop", "staff"}
    for theirs, space in (("public", "main"), *((name, name) for name in listed - {"public"})):
        assert found.get_table_names(theirs) == sorted(own.get_table_names(space))
        assert found.get_view_names(theirs) == own.get_view_names(space)
        for name in own.get_table_names(space) + own.get_view_names(space):
            columns = [c["name"] for c in found.get_columns(name, theirs)]
            assert columns == [c["name"] for c in own.get_columns(name, space)]
    assert own.get_table_names() == ["sites"]
    assert not own.has_table("people")
    assert own.has_table("people", schema="staff")
    assert found.get_foreign_keys("shifts", "plant")[0]["referred_schema"] == "plant"
    pg.dispose()
    ours.dispose()


def test_a_table_is_asked_through_its_schema_in_sqlalchemy(works: Served) -> None:
    engine = sa.create_engine(f"dpsql:///{works.schema}?analyst=bob")
    adults = sa.Table("adults", sa.MetaData(), schema="staff", autoload_with=engine)
    with engine.connect() as connection:
        count = connection.execute(sa.select(sa.func.count()).select_from(adults)).scalar_one()
    engine.dispose()
    assert abs(count - 720) < 60  # within the noise of one row, but for one in 1e-9
