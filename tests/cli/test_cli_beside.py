"""Files beside a ledger: each has its ledger's name, overwrites nothing else's, and isn't left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.cli_run import Run
from data.database import attached
from narrowed import ledger_file

from dpsql.engine.atomic_file import unfinished
from dpsql.schema.load.load import load_schema
from dpsql.schema.verify import record_path
from dpsql.session.sidecar import sidecar_path

SHOP = """\
dataset: {name}
source: {name}.duckdb
ledger: ledgers/{ledger}
units: {{person: {{table: people, key: id}}}}
tables:
  people:
    key: id
    unit: person
    columns: {{id: {{type: bigint}}, age: {{type: integer, bounds: [0, {most}]}}}}
budget: {{epsilon: 1, delta: 1e-6, accounting: approx}}
per_query: {{epsilon: 0.25, delta: 1e-7}}
"""


def shop(folder: Path, name: str, ledger: str, most: int = 90, rows: int = 50) -> Path:
    with attached(folder / f"{name}.duckdb") as connection:
        connection.execute(
            "CREATE OR REPLACE TABLE people AS SELECT i AS id, (i % 90)::INTEGER AS age"
            f" FROM range({rows}) t(i)"
        )
    path = folder / f"{name}.yaml"
    path.write_text(SHOP.format(name=name, ledger=ledger, most=most))
    return path


def prepared(run: Run, schema: Path) -> list[str]:
    ended = run("check", schema)
    assert ended.code == 0, ended.err
    return [line for line in ended.out.splitlines() if line.startswith("prepared: ")]


def test_two_ledgers_in_a_folder_share_no_file(run: Run, tmp_path: Path) -> None:
    schemas = [shop(tmp_path, "one", "one.db"), shop(tmp_path, "two", "two.db", 80, 60)]
    for schema in schemas:
        assert run("prepare", schema).code == 0
    assert [prepared(run, schema) for schema in schemas] == [["prepared: people"]] * 2
    for find in (sidecar_path, record_path):
        one, two = (find(load_schema(schema)) for schema in schemas)
        assert one != two
        assert one.exists()
        assert two.exists()


@pytest.mark.parametrize("name", ["prepared.duckdb", "keys.json", "x.users"])
def test_a_ledger_of_any_name_survives_its_own_commands(
    run: Run, tmp_path: Path, name: str
) -> None:
    schema = shop(tmp_path, "one", name)
    assert run("query", schema, "SELECT count(*) FROM people").code == 0
    assert run("prepare", schema).code == 0
    assert run("query", schema, "SELECT sum(age) FROM people").code == 0
    assert "0.5" in run("budget", schema).out
    assert run("ledger", "verify", schema).code == 0


@pytest.mark.parametrize("what", ["prepared.duckdb", "keys.json"])
def test_what_isnt_ours_isnt_overwritten(run: Run, tmp_path: Path, what: str) -> None:
    other = shop(tmp_path, "other", f"one.db.{what}")
    assert run("query", other, "SELECT count(*) FROM people").code == 0
    content = ledger_file(load_schema(other)).read_bytes()
    schema = shop(tmp_path, "one", "one.db")
    ended = run("prepare", schema)
    assert ended.code == 1
    assert f"one.db.{what} is" in ended.err
    assert ledger_file(load_schema(other)).read_bytes() == content
    assert run("ledger", "verify", other).code == 0


def test_a_database_of_somebodys_isnt_overwritten(run: Run, tmp_path: Path) -> None:
    schema = shop(tmp_path, "one", "one.db")
    target = sidecar_path(load_schema(schema))
    target.parent.mkdir(mode=0o700)
    with attached(target) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS x")
    content = target.read_bytes()
    ended = run("prepare", schema)
    assert ended.code == 1
    assert "dpsql prepare didn't write it" in ended.err
    assert target.read_bytes() == content


def left(schema: Path) -> list[Path]:
    return sorted((schema.parent / "ledgers").glob("*.unfinished-*"))


def test_what_a_killed_prepare_leaves_is_removed_and_told(run: Run, tmp_path: Path) -> None:
    schema = shop(tmp_path, "one", "one.db")
    code = (
        "import os, signal; from dpsql.cli.main import main\n"
        "from dpsql.engine.sidecar import file\n"
        "file.identity = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "main()"
    )
    command = [sys.executable, "-c", code, "prepare", str(schema)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (folder,) = left(schema)
    assert (folder / "made").exists()
    ended = run("check", schema)
    assert ended.code == 0
    assert f"removed {folder}" in ended.err
    assert not left(schema)


def test_what_a_running_command_writes_is_left_alone(run: Run, tmp_path: Path) -> None:
    schema = shop(tmp_path, "one", "one.db")
    with unfinished(sidecar_path(load_schema(schema))) as folder:
        for command in ("check", "prepare"):
            assert run(command, schema).code == 0
            assert left(schema) == [folder]
    assert not left(schema)


def test_what_a_killed_change_of_users_leaves_is_removed(run: Run, tmp_path: Path) -> None:
    schema = shop(tmp_path, "one", "one.db")
    code = (
        "import os, signal, sys; from pathlib import Path; from dpsql.pgwire.login import users\n"
        "users.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "path = Path(sys.argv[1])\n"
        "users.write_users(path, users.read_users(path).with_password('alice', 'long enough'))"
    )
    users = tmp_path / "ledgers" / "one.db.users"
    command = [sys.executable, "-c", code, str(users)]
    assert subprocess.run(command, check=False, env=os.environ).returncode == -signal.SIGKILL
    (folder,) = left(schema)
    assert (folder / "users").exists()
    ended = run("check", schema)
    assert f"removed {folder}" in ended.err
    assert not left(schema)


def test_check_names_what_an_older_version_left(run: Run, tmp_path: Path) -> None:
    schema = shop(tmp_path, "one", "one.db")
    ledgers = tmp_path / "ledgers"
    (ledgers / "prepared.duckdbabcd1234").mkdir(parents=True, mode=0o700)
    (ledgers / "prepared.duckdb").write_bytes(b"older")
    told = run("check", schema).err
    for name in ("prepared.duckdbabcd1234", "prepared.duckdb"):
        assert f"{ledgers / name} isn't read any more" in told
