"""What ten clients ask the catalogue, recorded: each is answered as PostgreSQL 15 does.

`metadata.json` was recorded from PostgreSQL 15 (Debian's) on the shop's schema: for each statement
which clients send it, and where it could be run as it is, the columns' names and OIDs. `rows` are
those of statements whose rows must be equal; OIDs of tables and the owner's name, which each server
chooses, are ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from pgwire.shop import FIXTURES

from dpsql.errors import DataError, Error, Refused, UnknownColumn, UnknownFunction, UnknownTable
from dpsql.pgwire.catalog.catalog import Catalog, Reader
from dpsql.pgwire.codec import text
from dpsql.pgwire.codec.parameter import constant
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.portal import Answer
from dpsql.pgwire.sql.commands import Query, ReadOnly, read_command
from dpsql.pgwire.sql.translate import translated
from dpsql.pgwire.sql.types.parameter_types import parameter_types
from dpsql.pgwire.workers.catalog_pool import CatalogWorkers
from dpsql.plan.expression import Literal
from dpsql.schema.load.load import load_schema

SCHEMA = load_schema(FIXTURES / "schema.yaml")
RECORDED: list[dict[str, Any]] = json.loads((FIXTURES / "metadata.json").read_text("utf-8"))
ALL_OF = {"psql", "jdbc", "psqlodbc", "sqlalchemy", "superset"}


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    workers = CatalogWorkers(Limits(catalog_workers=1))
    try:
        yield Catalog(SCHEMA, workers).reader("dpsql")
    finally:
        workers.close()


def ask(reader: Reader, recorded: dict[str, Any]) -> Answer | None:
    """The answer; None if the statement isn't for the catalogue."""
    command = read_command(recorded["sql"])
    if not isinstance(command, Query):
        return None
    query = translated(command.sql, SCHEMA)
    if query.tree is None:
        raise Refused("it can't be parsed")
    if not reader.reads_catalog(query.tree):
        return None
    kinds = parameter_types(query.tree, (), SCHEMA)
    given: dict[str, Literal] = {}
    for n, value in enumerate(recorded.get("parameters", ()), 1):
        one = constant(n, None if value is None else value.encode(), kinds[n - 1], 0)
        assert isinstance(one, Literal)
        given[str(n)] = one
    return reader.answer(query, given)


def test_all_statements_of_five_clients_and_nearly_all_of_others_are_answered(
    reader: Reader,
) -> None:
    failed: dict[str, set[str]] = {}
    for recorded in RECORDED:
        try:
            ask(reader, recorded)
        except ReadOnly:
            continue
        except Error as error:
            failed[f"{recorded['sql'][:200]} => {error}"] = set(recorded["clients"])
    assert not [what for what, clients in failed.items() if clients & ALL_OF]
    assert len(failed) <= 0.05 * len(RECORDED), failed


@pytest.mark.parametrize(
    "recorded", [r for r in RECORDED if "columns" in r], ids=lambda r: r["clients"][0]
)
def test_columns_have_postgresqls_names_and_types(reader: Reader, recorded: dict[str, Any]) -> None:
    found = ask(reader, recorded)
    assert found is not None
    assert [[c.name, c.oid] for c in found.columns] == recorded["columns"], recorded["sql"]


def test_rows_are_postgresqls(reader: Reader) -> None:
    compared = [recorded for recorded in RECORDED if "rows" in recorded]
    assert len(compared) >= 40
    for recorded in compared:
        found = ask(reader, recorded)
        assert found is not None
        encoders = [text.encoder(column.oid) for column in found.columns]
        rows = [
            [
                None if v is None else encode(v).decode()
                for encode, v in zip(encoders, row, strict=True)
            ]
            for row in found.rows
        ]
        ordered = "order by" in recorded["sql"].lower()
        assert (rows if ordered else sorted(rows, key=str)) == recorded["rows"], recorded["sql"]


def catalogue_rows(reader: Reader, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in reader.answer(translated(sql, SCHEMA), {}).rows]


def test_no_counts_or_sizes_are_told(reader: Reader) -> None:
    sql = "SELECT DISTINCT reltuples, relpages, pg_total_relation_size(oid) FROM pg_class"
    assert catalogue_rows(reader, sql) == [(-1.0, 0, 0)]
    numbers = "seq_scan, seq_tup_read, n_live_tup, n_tup_ins, last_analyze, analyze_count"
    sql = f"SELECT DISTINCT {numbers} FROM pg_stat_user_tables"
    assert catalogue_rows(reader, sql) == [(None,) * 6]
    for table in ("pg_stats", "pg_statistic"):
        with pytest.raises(Refused):
            catalogue_rows(reader, f"SELECT * FROM {table}")


def test_units_are_no_primary_keys(reader: Reader) -> None:
    own = "FROM pg_constraint WHERE conrelid >= 16384"
    sql = f"SELECT conrelid::regclass::text, contype {own} ORDER BY 1, 2"
    assert catalogue_rows(reader, sql) == [("orders", "f"), ("regions", "p")]


@pytest.mark.parametrize("place", ["1", "n", "n + 0"])
def test_places_in_lists_are_counted_from_one_and_in_vectors_from_zero(
    reader: Reader, place: str
) -> None:
    """A constant was one place off: every first column of a key was NULL."""
    sql = (
        f"SELECT conkey[{place}] IS NOT NULL, conkey[{place} + 9] IS NULL"
        f", (ARRAY['a', 'b'])[{place}], indkey[{place} - 1] = i.indkey[0]"
        " FROM pg_constraint, pg_index i, generate_series(1, 1) AS g(n) WHERE contype = 'p'"
    )
    assert set(catalogue_rows(reader, sql)) == {(True, True, "a", True)}


def test_letters_of_names_are_counted_from_zero(reader: Reader) -> None:
    """pg_dump took arrays, whose names begin with _, for types that it has to create."""
    sql = "SELECT typname[0], typname[n] FROM pg_type, generate_series(1, 1) AS g(n)"
    assert catalogue_rows(reader, f"{sql} WHERE typname = 'int4'") == [("i", "n")]


def test_an_element_is_removed_from_a_list(reader: Reader) -> None:
    sql = "SELECT array_to_string(array_remove(ARRAY['a', 'b', 'a'], 'a'), ',') FROM pg_am LIMIT 1"
    assert catalogue_rows(reader, sql) == [("b",)]


def test_rows_set_nothing(reader: Reader) -> None:
    sql = "SELECT set_config(name, 'x', false) FROM pg_settings WHERE name ="
    assert not catalogue_rows(reader, f"{sql} 'restrict_nonsystem_relation_kind'")
    with pytest.raises(Refused):
        catalogue_rows(reader, f"{sql} 'TimeZone'")


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("SELECT oid, relname, pg_whatever(oid) AS x FROM pg_class", UnknownFunction),
        ("SELECT relnames FROM pg_class", UnknownColumn),
        ("SELECT relname FROM pg_class, no_such_table", UnknownTable),
        ("SELECT relname FROM pg_class WHERE oid = 'x'::int", DataError),
    ],
)
def test_an_unknown_question_is_an_error_and_no_empty_answer(
    reader: Reader, sql: str, error: type[Error]
) -> None:
    with pytest.raises(error):
        reader.answer(translated(sql, SCHEMA), {})


def test_the_catalogue_and_data_are_not_read_together(reader: Reader) -> None:
    tree = translated("SELECT count(*) FROM orders, pg_class", SCHEMA).tree
    with pytest.raises(Refused):
        reader.reads_catalog(tree)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM pg_class, read_csv('/etc/passwd')",
        "SELECT oid FROM pg_class UNION SELECT getenv('HOME')",
        "SELECT content, oid FROM pg_class, read_text('/etc/hostname')",
    ],
)
def test_the_host_is_out_of_reach(reader: Reader, sql: str) -> None:
    query = translated(sql, SCHEMA)
    with suppress(Error):
        assert not reader.reads_catalog(query.tree) or list(reader.answer(query, {}).rows) == []
