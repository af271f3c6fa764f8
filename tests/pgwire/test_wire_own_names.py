"""Names of functions by which statements are rewritten: a client can call none of them."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest
from pgwire.shop import Served

import dpsql.pgwire

CALLS = (
    "part_by_pattern('abc', 'a(.)')",
    "dpsql_class(1)",
    "dpsql_set_of_row(1)",
    "dpsql_json(1)",
    "dpsql_json_key(1)",
    "dpsql_type(1)",
    "dpsql_space(1)",
    "dpsql_procedure(1)",
    "dpsql_procedure_name(1)",
    "dpsql_signature(1)",
    "dpsql_operator(1)",
    "dpsql_dictionary(1)",
    "dpsql_configuration(1)",
    "list_contains(NULL, 1)",
    "list_position(NULL, 1)",
    "json_group_object('a', 1)",
    "string_split_regex('a', 'b')",
    "regexp_extract('abc', 'a(.)')",
)
OWN = re.compile(r'"(?:\\0)?((?:dpsql|part_by)_[a-z_]+)"')


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("source", ["pg_catalog.pg_class", "pg_type"])
def test_the_catalogue_has_postgresqls_functions_alone(
    server: Served, call: str, source: str
) -> None:
    with psycopg.connect(server.dsn) as connection, pytest.raises(psycopg.Error) as refused:
        connection.execute(f"SELECT {call} FROM {source}")
    assert refused.value.sqlstate == "42883"


@pytest.mark.parametrize(
    "call", [call for call in CALLS if OWN.fullmatch(f'"{call.split("(")[0]}"')]
)
@pytest.mark.parametrize(
    "written", ["{}", "{} FROM regions", "{} FROM orders", "count({}) FROM orders"]
)
def test_no_statement_calls_an_own_name(server: Served, call: str, written: str) -> None:
    with psycopg.connect(server.dsn) as connection, pytest.raises(psycopg.Error) as refused:
        connection.execute(f"SELECT {written.format(call)}")
    assert refused.value.sqlstate == "42883"


def test_the_list_has_every_own_name() -> None:
    files = Path(dpsql.pgwire.__file__).parent.rglob("*.py")
    names = {name for file in files for name in OWN.findall(file.read_text(encoding="utf-8"))}
    assert names <= {call.split("(")[0] for call in CALLS} | {"dpsql_"}
