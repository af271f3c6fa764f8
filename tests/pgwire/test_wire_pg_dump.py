"""pg_dump against a server: the schema as DDL, rows of public tables, and none of private ones."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from pgwire.shop import Served
from waiting import HANGS_AFTER

pytestmark = pytest.mark.skipif(shutil.which("pg_dump") is None, reason="pg_dump isn't installed")


def dumped(server: Served, *options: str) -> tuple[str, str]:
    """What pg_dump writes, and what it complains of."""
    ran = subprocess.run(
        ["pg_dump", *options, server.dsn],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_AFTER,
        env=os.environ | {"PGCONNECT_TIMEOUT": str(HANGS_AFTER)},
    )
    return ran.stdout, ran.stderr


def test_the_schema_is_dumped_as_ddl(server: Served) -> None:
    out, err = dumped(server, "--schema-only")
    assert not err
    for words in (
        "CREATE TABLE public.customers (\n    id bigint NOT NULL,\n    region text,",
        "amount numeric(10,2),",
        "ADD CONSTRAINT regions_pkey PRIMARY KEY (region_id);",
        "REFERENCES regions(region_id);",
    ):
        assert words in out
    assert "CREATE TYPE" not in out


def test_rows_of_public_tables_are_dumped_and_those_of_units_refused(server: Served) -> None:
    out, err = dumped(server, "--data-only", "--table=regions")
    assert "FROM stdin;\n1\tregion 1\n2\tregion 2\n3\tregion 3\n4\tregion 4\n\\.\n" in out
    assert not err
    out, err = dumped(server, "--data-only", "--table=customers")
    assert out.endswith("FROM stdin;\n")
    assert "the answer would list rows of customers" in err
    assert "SELECT count(*) FROM customers" in err
