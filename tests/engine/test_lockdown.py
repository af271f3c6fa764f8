from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.duckdb.lockdown import NO_SPILLING, SECURITY_SETTINGS, SEMANTIC_SETTINGS
from dpsql.engine.source import DuckDBSource
from dpsql.errors import ExecutionFailed

# {folder} is the source's, {file} a file of the source that statements may read through its view.
DENIED = (
    "SELECT * FROM read_csv('{folder}/people.csv')",
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM read_blob('/etc/hostname')",
    "SELECT * FROM read_json('/etc/hostname')",
    "SELECT * FROM read_parquet('/etc/hostname')",
    "SELECT * FROM parquet_page_index('/etc/hostname')",
    "SELECT * FROM add_grammar_extension('legacy_parser')",
    "SELECT * FROM remove_grammar_extension('legacy_parser')",
    "CREATE EXTENSION REPOSITORY example",
    "LOAD legacy_parser",
    "SET logging_sink = 'stdout'",
    "SET GLOBAL parquet_can_have_nan = false",
    "SELECT * FROM sniff_csv('{folder}/people.csv')",
    "SELECT * FROM '/etc/hostname'",
    "SELECT * FROM 'https://example.org/x.csv'",
    "SELECT * FROM read_csv('https://example.org/x.csv')",
    "COPY (SELECT 1) TO '{folder}/new.csv'",
    "COPY (SELECT 1) TO '/tmp/new.parquet' (FORMAT parquet, USE_TMP_FILE false)",
    "EXPORT DATABASE '{folder}/export'",
    "IMPORT DATABASE '{folder}'",
    "ATTACH '{folder}/people.duckdb' AS other",
    "ATTACH '{folder}/new.duckdb' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "FORCE INSTALL spatial FROM community",
    "SET threads = 4",
    "SET GLOBAL lock_configuration = false",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "SET GLOBAL error_on_division_by_zero = true",
    "SET GLOBAL allowed_paths = ['/etc/hostname']",
    "SET temp_directory = '/tmp'",
    "SET log_query_path = '/tmp/log'",
    "SET python_enable_replacements = true",
    "PRAGMA enable_profiling",
    "PRAGMA profiling_output = '{folder}/profile'",
    "CALL enable_logging()",
    "SELECT * FROM duckdb_secrets(redact := false)",
    "CREATE PERSISTENT SECRET s (TYPE http)",
    "SELECT * FROM local_variable",
)


@pytest.mark.parametrize("statement", DENIED)
def test_the_lock_itself_denies(engine: DuckDBEngine, files: Path, statement: str) -> None:
    local_variable = [1]  # noqa: F841 - a replacement scan would find it
    before = sorted(path.name for path in files.iterdir())
    probe = statement.format(folder=files, file=files / "people.parquet")
    with pytest.raises((duckdb.Error, RuntimeError)), engine._cursors.one() as cursor:
        cursor.execute(probe).fetchall()
    with pytest.raises(ExecutionFailed):
        engine.execute(probe)
    assert sorted(path.name for path in files.iterdir()) == before


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "-- nothing",
        "SELECT 1; SELECT 2",
        "CREATE TEMP TABLE t (x INTEGER)",
        "CREATE TEMP MACRO m() AS 1",
        "SET VARIABLE x = 1",
        "PREPARE p AS SELECT 1",
        "EXPLAIN ANALYZE SELECT * FROM people",
        "CALL pragma_version()",
        "CHECKPOINT",
        "DELETE FROM people",
        "INSERT INTO people VALUES (9, 'x', 1)",
        "WITH new AS (INSERT INTO people VALUES (9, 'x', 1) RETURNING id) SELECT * FROM new",
        "COPY (SELECT 1 AS id) TO '{file}' (FORMAT parquet, USE_TMP_FILE false)",
    ],
)
def test_only_one_select_runs(engine: DuckDBEngine, files: Path, statement: str) -> None:
    file = files / "people.parquet"
    before = hashlib.sha256(file.read_bytes()).digest()
    for _ in range(2):  # to have failed in a read-only transaction proves nothing of a statement
        with pytest.raises(ExecutionFailed):
            engine.execute(statement.format(file=file))
    assert hashlib.sha256(file.read_bytes()).digest() == before
    assert engine.execute("SELECT id FROM people").table.num_rows == 3


def test_undeclared_columns_are_not_there(engine: DuckDBEngine) -> None:
    assert engine.execute("SELECT * FROM people").table.column_names == ["id", "word", "price"]
    with pytest.raises(ExecutionFailed):
        engine.execute("SELECT hidden FROM people")


@pytest.mark.parametrize("name", [*SECURITY_SETTINGS, *SEMANTIC_SETTINGS, *NO_SPILLING])
def test_settings_reach_the_cursors_that_run_statements(
    parquet_engine: DuckDBEngine, name: str
) -> None:
    written = {**SECURITY_SETTINGS, **SEMANTIC_SETTINGS, **NO_SPILLING}[name].strip("'").lower()
    statement = f"SELECT current_setting('{name}')::VARCHAR AS found"
    found = str(parquet_engine.execute(statement).table["found"][0].as_py() or "").lower()
    same = {"0kb": "0 bytes", "ascending": "asc"}
    assert found in {same.get(written, written), "0" if written == "false" else written}


def test_nothing_is_spilled_unless_the_schema_says_so(files: Path) -> None:
    with DuckDBEngine(DuckDBSource(), memory_limit="30MB", threads=1) as engine:
        with pytest.raises(ExecutionFailed):
            engine.execute("SELECT count(*) FROM (SELECT DISTINCT i FROM range(20000000) t(i))")
        assert engine.execute("SELECT 1 AS one").table["one"][0].as_py() == 1
    assert not Path(".tmp").exists()
    assert not list(files.glob("*tmp*"))


def test_no_progress_is_drawn_where_python_runs_no_file() -> None:
    asked = "SELECT current_setting('enable_progress_bar')"
    for how, drawn in (("pass", "True"), ("configure(connection)", "False")):
        code = f"""
import duckdb
from dpsql.engine.duckdb.lockdown import configure
connection = duckdb.connect(":memory:")
{how}
print(connection.execute({asked!r}).fetchall()[0][0])
"""
        ran = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert ran.stdout.strip() == drawn
