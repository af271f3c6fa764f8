from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from data.database import attached
from narrowed import ledger_file
from schema.file_source import file_source
from schema.shop import load

from dpsql.engine.opening import open_engine
from dpsql.errors import SourceFault
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.schema.verify import KeyRecord, duplicate_free, record_path, verified, verify_keys

TEXT = """\
dataset: shop
source: shop.duckdb
units: {person: {table: people, key: id}}
tables:
  people: {key: id, unit: person}
  visits: {key: [id, day], unit: {column: id, references: people.id}, columns: {day: {}}}
  towns: {public: true}
budget: {epsilon: 1}
"""

PEOPLE = "people(id INTEGER)"
"""The key of people, as it is recorded."""


def database(folder: Path, people: str, visits: str) -> Schema:
    path = folder / "shop.duckdb"
    path.unlink(missing_ok=True)
    with attached(path) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT * FROM (VALUES {people}) AS t(id)")
        connection.execute(f"CREATE TABLE visits AS SELECT * FROM (VALUES {visits}) AS t(id, day)")
        connection.execute("CREATE TABLE towns AS SELECT 1 AS town")
    return load(folder, TEXT)


@pytest.mark.parametrize(
    ("people", "visits", "holds"),
    [
        ("(1), (2)", "(1, 1), (1, 2), (2, 1)", {"people": True, "visits": True}),
        ("(1), (1)", "(1, 1), (1, 2)", {"people": False, "visits": True}),
        ("(1), (2)", "(1, 1), (1, 1)", {"people": True, "visits": False}),
        ("(1), (NULL)", "(1, NULL), (1, 2)", {"people": False, "visits": False}),
        ("(NULL::INTEGER)", "(NULL::INTEGER, 1)", {"people": False, "visits": False}),
        ("(2), (1)", "(2, 1), (1, 2), (1, 1)", {"people": True, "visits": True}),
        ("(2), (1), (2)", "(1, 1), (1, 2), (1, 1)", {"people": False, "visits": False}),
        ("(1), (NULL), (2)", "(1, 1), (2, NULL), (3, 1)", {"people": False, "visits": False}),
    ],
)
def test_keys_are_checked_on_the_rows(
    tmp_path: Path, people: str, visits: str, holds: dict[str, bool]
) -> None:
    schema = database(tmp_path, people, visits)
    with open_engine(engine_source(schema)) as engine:
        assert verify_keys(schema, engine) == holds
        true = {name for name, held in holds.items() if held}
        assert verified(schema, engine.fingerprint()) == true


def test_an_empty_table_has_no_duplicates(tmp_path: Path) -> None:
    schema = database(tmp_path, "(1)", "(1, 1)")
    with attached(file_source(schema).path) as connection:
        connection.execute("DELETE FROM people")
    with open_engine(engine_source(schema)) as engine:
        assert duplicate_free(engine, "people", ["id"])


def test_another_version_of_the_data_has_no_verified_keys(tmp_path: Path) -> None:
    schema = database(tmp_path, "(1)", "(1, 1)")
    with open_engine(engine_source(schema)) as engine:
        verify_keys(schema, engine)
        before = engine.fingerprint()
    schema = database(tmp_path, "(1), (1)", "(1, 1)")
    with open_engine(engine_source(schema)) as engine:
        assert engine.fingerprint() != before
        assert verified(schema, engine.fingerprint()) == frozenset()


def test_another_key_of_the_same_table_is_not_verified(tmp_path: Path) -> None:
    schema = database(tmp_path, "(1)", "(1, 1), (1, 2)")
    with open_engine(engine_source(schema)) as engine:
        verify_keys(schema, engine)
        narrower = load(tmp_path, TEXT.replace("[id, day]", "day"))
        assert verified(narrower, engine.fingerprint()) == {"people"}


def test_the_record_is_its_owners_alone(tmp_path: Path) -> None:
    schema = load_only(tmp_path)
    path = record_path(schema)
    KeyRecord("f", frozenset({PEOPLE})).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.parent == ledger_file(schema).parent
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert verified(schema, "f") == {"people"}


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b"7",
        b'{"f": null}',
        b'{"f": ["people(id INTEGER)", 1]}',
        b'{"f": "people(id INTEGER)"}',
        b'{"f": {"people(id INTEGER)": 1}}',
        b'{"f": ["people(id INTEGER)"], "g": []}',
        b"[" * 100000,
        b'{"f": ' + b"[" * 100000,
        b'{"f": ["people(id INTEGER)"], "f": 7}',
    ],
)
def test_a_damaged_record_verifies_nothing(tmp_path: Path, damage: bytes) -> None:
    schema = load_only(tmp_path)
    path = record_path(schema)
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    assert verified(schema, "f") == frozenset()
    # Whose it is isn't known: it may be somebody's only copy of something else.
    with pytest.raises(SourceFault, match="is no record of keys"):
        KeyRecord("f", frozenset({PEOPLE})).save(path)
    assert path.read_bytes() == damage
    path.unlink()
    KeyRecord("f", frozenset({PEOPLE})).save(path)
    assert json.loads(path.read_text()) == {"f": [PEOPLE]}


def test_a_missing_record_verifies_nothing(tmp_path: Path) -> None:
    assert verified(load_only(tmp_path), "f") == frozenset()


def load_only(folder: Path) -> Schema:
    return database(folder, "(1)", "(1, 1)")


DELIMITED = """\
dataset: post
source: data
units: {{person: {{table: people, key: id}}}}
tables:
  people: {{key: id, unit: person, columns: {{id: {{type: {kind}}}}}}}
budget: {{epsilon: 1}}
"""


def test_a_key_is_verified_as_the_type_that_it_was_checked_as(tmp_path: Path) -> None:
    # '1' and '01' are two texts and one number: read as a number, one person has two rows.
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.csv").write_text("id\n1\n01\n2\n", encoding="utf-8")
    texts = load(tmp_path, DELIMITED.format(kind="varchar"))
    with open_engine(engine_source(texts)) as engine:
        assert verify_keys(texts, engine) == {"people": True}
        version = engine.fingerprint()
    assert verified(texts, version) == {"people"}
    numbers = load(tmp_path, DELIMITED.format(kind="bigint"))
    with open_engine(engine_source(numbers)) as engine:
        assert engine.fingerprint() == version
        assert not verified(numbers, version)
        assert verify_keys(numbers, engine) == {"people": False}
