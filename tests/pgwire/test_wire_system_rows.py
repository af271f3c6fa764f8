"""PostgreSQL's own rows of the catalogue, and rows about the connection that asks."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pgwire.asking import rows

from dpsql.pgwire.query_service import QueryService

ROOT = Path(__file__).parent.parent.parent
COMPILED = Path(os.environ.get("DPSQL_CLIENTS", ROOT / ".venv-clients")) / "sqlglot"


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT count(*) > 3000 FROM pg_proc", True),
        ("SELECT count(*) FROM pg_operator WHERE oprname = '='", 63),
        ("SELECT count(*) FROM pg_cast", 229),
        ("SELECT count(*) FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid", 148),
        ("SELECT proname FROM pg_type t JOIN pg_proc p ON p.oid = typinput WHERE typname = 'int4'",
         "int4in"),
        ("SELECT count(*) FROM information_schema.columns WHERE table_name = 'pg_class'", 33),
        ("SELECT relname FROM pg_class WHERE oid = 'pg_catalog.pg_proc'::regclass", "pg_proc"),
        ("SELECT rolname FROM pg_roles WHERE rolname = current_user", "alice"),
        ("SELECT usename FROM pg_user WHERE usesysid > 10", "alice"),
        ("SELECT pg_get_userbyid(oid) FROM pg_roles WHERE rolname = 'alice'", "alice"),
        ("SELECT count(*) FROM pg_stat_activity WHERE pid = pg_backend_pid()", 1),
        ("SELECT grantee FROM information_schema.role_table_grants WHERE table_name = 'orders'",
         "alice"),
        ("SELECT oid >= 16384 FROM pg_database WHERE datname = current_database()", True),
        ("SELECT has_table_privilege('orders', 'SELECT')", True),
        ("SELECT has_table_privilege('orders', 'INSERT')", False),
        ("SELECT pg_catalog.current_database() = current_database()", True),
        ("SELECT current_schema FROM current_schema()", "public"),
        ("SELECT format('%I.%I is %L', 'A b', 'c', 'it''s')", "\"A b\".c is 'it''s'"),
        ("SELECT array_to_string(parse_ident('public.\"A b\"'), '|')", "public|A b"),
        ("SELECT xmin IS NOT NULL FROM pg_class WHERE relname = 'orders'", True),
        ("SELECT generate_subscripts(indkey, 1) FROM pg_index WHERE indrelid = 'regions'::regclass",
         0),
        ("SELECT indkey::text FROM pg_index WHERE indrelid = 'regions'::regclass", "1"),
        (("SELECT pg_get_indexdef(indexrelid, 0, true) FROM pg_index "
         "WHERE indrelid = 'regions'::regclass"),
         "CREATE UNIQUE INDEX regions_pkey ON regions USING btree (region_id)"),
        (("SELECT array_position(conkey, 3::int2) FROM pg_constraint WHERE contype = 'f' "
         "AND conrelid = 'orders'::regclass"), 1),
        (("SELECT k.option FROM pg_index i, unnest(i.indkey, i.indoption) WITH ORDINALITY "
         "k(key, option, n) WHERE i.indrelid = 'regions'::regclass"), 0),
        (("SELECT count(*) FROM pg_constraint c JOIN pg_depend d ON d.objid = c.oid "
         "AND d.deptype = 'n' WHERE c.contype = 'f' AND c.conrelid = 'orders'::regclass"), 2),
        ("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'orders'::regclass AND tgisinternal", 2),
        ("SELECT indclass::text FROM pg_index WHERE indrelid = 'regions'::regclass", "3124"),
        ("SELECT typname FROM pg_type WHERE typrelid = 'orders'::regclass", "orders"),
        ("SELECT format_type(typarray, NULL) FROM pg_type WHERE typname = 'orders'", "orders[]"),
        ("SELECT 'orders'::regclass", "orders"),
        ("SELECT 'orders'::regclass::regclass", "orders"),
        ("SELECT count(*) FROM pg_type WHERE typrelid::regclass = 'orders'::regclass", 1),
        ("SELECT count(*) FROM pg_proc p WHERE p.prorettype::regtype = 'trigger'::regtype", 17),
        (("SELECT COALESCE(proallargtypes::regtype[], proargtypes::regtype[])::text[] IS NULL "
         "FROM pg_proc WHERE proname = 'now'"), False),
        ("SELECT pg_catalog.ltrim(pg_catalog.rtrim(' public ')) FROM pg_namespace LIMIT 1",
         "public"),
        ("SELECT 'now'::pg_catalog.regproc::pg_catalog.oid", 1299),
        ("SELECT count(*) FROM pg_class WHERE oid = CAST('orders'::regclass AS regclass)", 1),
        ("SELECT typrelid::regclass::regclass FROM pg_type WHERE typname = 'orders'", "orders"),
        ("SELECT count(*) FROM pg_type WHERE typtype = 'd' AND pg_type_is_visible(oid)", 0),
        ("SELECT pg_type_is_visible(oid) FROM pg_type WHERE typname = 'orders'", True),
        ("SELECT 'int4range'::regtype", "int4range"),
        ("SELECT min(NULL::oid)::regtype::text IS NULL FROM pg_class", True),
        ("SELECT count(*) FROM pg_class WHERE oid = ANY('{1247,1259}'::oid[])", 2),
        ("SELECT count(*) FROM pg_class WHERE relname SIMILAR TO 'pg/_(class|type)' ESCAPE '/'", 2),
        ("SELECT quote_ident('user') || quote_ident('users')", '"user"users'),
        ("SELECT pg_catalog.concat(nspname, '.') FROM pg_namespace WHERE oid = 11", "pg_catalog."),
        ("SELECT substring(nspname FROM 'pg_(.*)og') FROM pg_namespace WHERE oid = 11", "catal"),
        ("SELECT trim(s[2]) FROM string_to_array(current_setting('search_path'), ',') s",
         "public"),
        ("SELECT relname AS select FROM pg_class WHERE oid = 1259", "pg_class"),
        ("SELECT extname FROM pg_extension", "plpgsql"),
        ("SELECT count(*) FROM pg_class, pg_options_to_table(reloptions) WHERE oid = 1259", 0),
        ("SELECT count(*) FROM pg_operator o JOIN pg_proc p ON o.oprcode = p.oid", 799),
        (("SELECT p.oid FROM pg_operator o JOIN pg_proc p ON p.oid = oprcode::oid "
         "WHERE o.oid = 96"), 65),
        ("SELECT count(*) FROM pg_type WHERE typinput = 'array_in'::regproc AND oid < 16384", 291),
        (("SELECT count(*) FROM pg_type WHERE typinput IN ('array_in', 'int4in') "
         "AND oid < 16384"), 292),
        ("SELECT count(*) FROM pg_type WHERE typanalyze = 0 AND typname = 'int4'", 1),
        ("SELECT amhandler FROM pg_am WHERE amname = 'heap'", "heap_tableam_handler"),
        ("SELECT oprcode FROM pg_operator WHERE oid = 15", "int48eq"),
        ("SELECT oprcode FROM pg_operator WHERE oid = 551", "int4pl"),
        ("SELECT prosupport FROM pg_proc WHERE oid = 1216", "-"),
        ("SELECT typinput || '!' FROM pg_type WHERE typname = 'bool'", "boolin!"),
        ("SELECT 'pg_catalog.array_in'::regproc::oid", 750),
        ("SELECT 481::regproc::text", "pg_catalog.int8"),
        ("SELECT to_regproc('no_such')", None),
        ("SELECT array_agg(word ORDER BY word)::text FROM pg_get_keywords() WHERE word ~ '^ou'",
         "[out, outer]"),
        ("SELECT count(*) FROM pg_get_keywords() WHERE catcode = 'U' AND barelabel", 298),
        ("SELECT count(*) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attnum < 0", 6),
        (("SELECT count(*) FROM pg_constraint c WHERE c.tableoid = 'pg_constraint'::regclass "
         "AND oid < 16384"), 111),
        ("SELECT DISTINCT tableoid::regclass FROM pg_class", "pg_class"),
        ("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pg\\_%'", 2),
        (r"SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pg\_' || 'toas_'", 1),
        (("SELECT castsource::regtype FROM pg_cast WHERE casttarget = 25 ORDER BY 1 LIMIT 1"),
         "boolean"),
        ("SELECT format_type(1184, 2)", "timestamp(2) with time zone"),
        ("SELECT format_type(1042, 7)", "character(3)"),
        ("SELECT relname::varchar(3) FROM pg_class WHERE relname = 'orders'", "ord"),
        ("SELECT relname::char FROM pg_class WHERE relname = 'orders'", "o"),
        ("SELECT array_position(ARRAY['a', 'b'], 'b') FROM pg_class WHERE oid = 1259", 2),
        ("SELECT pg_size_pretty(123456789::bigint)", "118 MB"),
        ("SELECT pg_get_function_arguments(oid) FROM pg_proc WHERE oid = 1069", "bigint, bigint"),
        ("SELECT pg_get_function_result(oid) FROM pg_proc WHERE oid = 1069", "SETOF bigint"),
        ("SELECT f || '!' FROM (SELECT typinput AS f FROM pg_type WHERE oid = 16) AS x", "boolin!"),
        (("SELECT castsource::regtype FROM pg_cast WHERE casttarget = 25 GROUP BY castsource "
         "ORDER BY 1 LIMIT 1"), "boolean"),
        (("SELECT grantee FROM information_schema.column_privileges "
         "WHERE table_name = 'orders' AND column_name = 'qty'"), "alice"),
        (("SELECT count(*) FROM information_schema.data_type_privileges "
         "WHERE object_name = 'regions'"), 2),
    ],
)  # fmt: skip
def test_a_question_of_the_catalogue_has_postgresqls_answer(
    alice: QueryService, sql: str, wanted: object
) -> None:
    ((value,),) = rows(alice, sql)
    assert (str(value) if isinstance(wanted, str) else value) == wanted


def test_an_analyst_is_told_of_no_other(bob: QueryService) -> None:
    sql = "SELECT rolname FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1"
    assert rows(bob, sql) == [("bob",), ("dpsql",)]


def test_no_class_inherits_from_the_parser() -> None:
    """None can be made where sqlglot is compiled, and each statement would lose its meaning."""
    bases = {
        ast.unparse(base).rpartition(".")[2]
        for path in (ROOT / "dpsql").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    }
    assert not bases & {"Parser", "PostgresParser", "Postgres", "DuckDB", "Generator", "Tokenizer"}


@pytest.mark.skipif(not (COMPILED / "sqlglot").exists(), reason="sqlglot[c] isn't installed")
def test_a_statement_means_the_same_where_sqlglot_is_compiled() -> None:
    program = """
import sqlglot.parser
from pathlib import Path
from dpsql.pgwire.sql.translate import translated
from dpsql.schema.load.load import load_schema
schema = load_schema(Path("fixtures/pgwire/both/schema.yaml"))
print(sqlglot.parser.__file__.endswith(".so"))
print(translated("SELECT to_char(ts, 'Mon'), i / 2, substr(t, -1) FROM t", schema).sql)
"""
    told = []
    for folder in ("", str(COMPILED)):
        path = os.pathsep.join(filter(None, [folder, str(ROOT), os.environ.get("PYTHONPATH", "")]))
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONPATH": path},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(ran.stdout.splitlines())
    assert [lines[0] for lines in told] == ["False", "True"]
    assert told[0][1] == told[1][1]
