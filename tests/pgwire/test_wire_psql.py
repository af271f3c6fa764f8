"""psql against a server: queries, errors, metadata, \\copy."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from pgwire.shop import Served, psql

pytestmark = pytest.mark.skipif(shutil.which("psql") is None, reason="psql isn't installed")

TOTALS = "SELECT status, count(*), sum(amount) AS total FROM orders GROUP BY status ORDER BY 1"


def test_an_answer_comes_with_its_cost_and_is_free_the_second_time(server: Served) -> None:
    out, err = psql(server, TOTALS, TOTALS, options=("-At",))
    lines = out.splitlines()
    assert len(lines) >= 8
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]
    first, second = err.splitlines()
    assert re.fullmatch(
        r"NOTICE:  cost: epsilon = 0\.5; left: epsilon = \S+ of 60, \d+ more at epsilon = 0\.5",
        first,
    )
    assert "cost: nothing to the dataset, answered before" in second


def test_rows_are_refused_with_an_example_that_works(server: Served) -> None:
    out, err = psql(server, "SELECT * FROM orders", options=("-v", "VERBOSITY=verbose"))
    assert not out
    assert "ERROR:  42501:" in err
    assert "LINE 1: SELECT * FROM orders" in err
    hint = re.search(r"HINT:  aggregate over units: (SELECT .*)", err)
    assert hint is not None
    out, err = psql(server, hint[1], options=("-At",))
    assert re.fullmatch(r"-?\d+\n", out)


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("SELECT nope FROM orders", "42703"),
        ("SELECT count(*) FROM nope", "42P01"),
        ("SELECT nope(qty) FROM orders", "42883"),
        ("SELEC 1", "42601|0A000"),
        ("DELETE FROM orders", "25006"),
        ("SET dpsql.epsilon = 7", "22023"),
        ("SHOW nothing", "42704"),
        ("FETCH 1 FROM nothing", "34000"),
        ("DEALLOCATE nothing", "26000"),
        ("SELECT count(*) FROM orders, pg_class", "0A000"),
        ("COPY orders FROM STDIN", "0A000"),
    ],
)
def test_an_error_has_its_sqlstate(server: Served, sql: str, state: str) -> None:
    _, err = psql(server, sql, options=("-v", "VERBOSITY=verbose"))
    assert re.search(rf"ERROR:  ({state}):", err), err


def test_a_place_is_found_in_a_statement_that_follows_others(server: Served) -> None:
    _, err = psql(server, "SELECT 1; SELECT nope FROM orders")
    assert "LINE 1: SELECT 1; SELECT nope FROM orders\n                         ^" in err


@pytest.mark.parametrize(
    "command",
    [
        r"\d",
        r"\d orders",
        r"\d+ orders",
        r"\d regions",
        r"\dt",
        r"\dt+",
        r"\dn",
        r"\df",
        r"\dv",
        r"\dT",
        r"\du",
        r"\dp",
        r"\l",
        r"\di",
        r"\dd",
        r"\df+ count",
        r"\dF",
        r"\dFd",
        r"\dFp",
        r"\dFt",
        r"\dc",
        r"\dX",
        r"\d pg_class",
        r"\dAf",
        r"\dO",
        r"\dP+",
        r"\dconfig+ work_mem",
        r"\dL+",
        r"\dF+ english",
        r"\dFp+",
    ],
)
def test_metadata_is_listed(server: Served, command: str) -> None:
    out, err = psql(server, command)
    assert not err or "Did not find any" in err
    assert out or err


def test_a_table_is_described_with_types_keys_of_public_tables_and_no_others(
    server: Served,
) -> None:
    out, _ = psql(server, r"\d orders")
    assert re.search(r" amount +\| numeric\(10,2\)", out)
    assert re.search(r" ts +\| timestamp without time zone", out)
    assert '"orders_region_id_fkey" FOREIGN KEY (region_id) REFERENCES regions(region_id)' in out
    assert "PRIMARY KEY" not in out
    assert '"regions_pkey" PRIMARY KEY' in psql(server, r"\d regions")[0]


def test_an_index_of_the_catalogue_is_written_down_as_postgresql_does(server: Served) -> None:
    """pgcli looks for USING in it where it describes pg_class, and fails if there is nothing."""
    index = "'pg_class_relname_nsp_index'::regclass"
    calls = ("({})", "({}, 0, true)", "({}, 2, true)")
    out, _ = psql(
        server, *(f"SELECT pg_get_indexdef{c.format(index)}" for c in calls), options=("-At",)
    )
    head, tail = "CREATE UNIQUE INDEX pg_class_relname_nsp_index ON", "USING btree"
    assert out.splitlines() == [
        f"{head} pg_catalog.pg_class {tail} (relname, relnamespace)",
        f"{head} pg_class {tail} (relname, relnamespace)",
        "relnamespace",
    ]


def test_the_types_of_the_catalogues_values_are_named(server: Served) -> None:
    asked = ("relnatts", "relhasindex", "reltuples", "'10:00'::time", "relkind::text")
    calls = ", ".join(f"pg_typeof({value})" for value in asked)
    out, _ = psql(server, f"SELECT {calls} FROM pg_class LIMIT 1", options=("-At",))
    assert out == "smallint|boolean|real|time without time zone|text\n"


def test_a_table_is_no_view_to_be_shown(server: Served) -> None:
    assert '"public.customers" is not a view' in psql(server, r"\sv customers")[1]


def test_what_has_an_oid_is_written_down_as_postgresql_does(server: Served) -> None:
    unaligned = ("-A",)
    assert "|<(integer,bigint)|1|" in psql(server, r"\dAo btree integer_ops", options=unaligned)[0]
    assert "|btint4cmp(integer,integer)\n" in psql(server, r"\dAp+ btree", options=unaligned)[0]
    assert " function plpgsql_validator(oid)\n language plpgsql\n" in psql(server, r"\dx+")[0]


def test_copy_writes_a_file(server: Served, tmp_path: Path) -> None:
    file = tmp_path / "totals.csv"
    out, err = psql(server, rf"\copy (SELECT name FROM regions ORDER BY 1) TO '{file}' CSV HEADER")
    assert out == "COPY 4\n", err
    assert file.read_text().splitlines() == ["name", *(f"region {n}" for n in range(1, 5))]


def test_settings_are_shown_set_and_reverted(server: Served) -> None:
    out, _ = psql(
        server,
        "BEGIN",
        "SET dpsql.epsilon = 0.25",
        "SHOW dpsql.epsilon",
        "ROLLBACK",
        "SHOW dpsql.epsilon",
        "SET application_name = 'x'",
        "SHOW application_name",
        "RESET ALL",
        "SHOW timezone",
        options=("-Atq",),
    )
    assert out.split() == ["0.25", "0.5", "x", "UTC"]


def test_a_failed_transaction_takes_nothing_but_its_end(server: Served) -> None:
    out, err = psql(
        server, "BEGIN", "SELECT nope", "SELECT 1", "COMMIT", "SELECT 2", options=("-At",)
    )
    assert "transaction has failed" in err
    assert out.split() == ["BEGIN", "ROLLBACK", "2"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders LIMIT 0",
        "SELECT * FROM orders LIMIT 1",
        "SELECT * FROM orders WHERE 1 = 0",
        "SELECT * FROM (SELECT * FROM public.orders) AS virtual_table LIMIT 1",
        "SELECT DISTINCT customer_id FROM orders",
    ],
)
def test_probes_for_columns_have_columns_and_no_rows(server: Served, sql: str) -> None:
    out, err = psql(server, sql)
    assert "ERROR" not in err
    assert "customer_id" in out
    assert "(0 rows)" in out


def test_explain_privacy_is_free(server: Served) -> None:
    out, err = psql(
        server, "EXPLAIN PRIVACY SELECT sum(amount) FROM public.orders", options=("-At",)
    )
    assert "sensitivity" in out
    assert not err


def test_division_and_nulls_are_postgresqls(server: Served) -> None:
    out, _ = psql(server, "SELECT region_id / 2 FROM regions ORDER BY region_id", options=("-At",))
    assert out.split() == ["0", "1", "1", "2"]
    sql = "SELECT nullif(region_id, 4) FROM regions ORDER BY 1 DESC"
    assert psql(server, sql, options=("-At", "-P", "null=NULL"))[0].split() == [
        "NULL",
        "3",
        "2",
        "1",
    ]
