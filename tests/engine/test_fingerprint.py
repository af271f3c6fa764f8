from __future__ import annotations

import os
import shutil
from pathlib import Path

import duckdb
import pytest
from data.database import attached
from engine.people import source

import dpsql.engine.fingerprint as module
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.fingerprint import fingerprint
from dpsql.engine.source import DuckDBSource, SourceTable
from dpsql.errors import SourceFault


@pytest.mark.parametrize("form", ["duckdb", "parquet", "csv"])
def test_a_copy_is_the_same_version(files: Path, tmp_path: Path, form: str) -> None:
    shutil.copy(files / f"people.{form}", tmp_path)
    os.utime(tmp_path / f"people.{form}", ns=(0, 0))
    assert fingerprint(source(tmp_path, form)) == fingerprint(source(files, form))
    with DuckDBEngine(source(files, form)) as engine:
        assert engine.fingerprint() == fingerprint(source(files, form))


def test_one_changed_byte_is_another_version(files: Path, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    before = (files / "people.csv").read_bytes()
    file.write_bytes(before.replace(b"0.5", b"0.6"))
    stat = (files / "people.csv").stat()
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert fingerprint(source(tmp_path, "csv")) != fingerprint(source(files, "csv"))


def test_uncheckpointed_rows_are_another_version(tmp_path: Path) -> None:
    path = str(tmp_path / "t.duckdb")
    with attached(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS x")
    before = fingerprint(DuckDBSource(path))
    connection = duckdb.connect(path)
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("INSERT INTO t VALUES (2)")
    connection.close()
    assert (tmp_path / "t.duckdb.wal").exists()
    assert fingerprint(DuckDBSource(path)) != before
    with DuckDBEngine(DuckDBSource(path, (SourceTable("t", None, (("x", "INTEGER"),)),))) as engine:
        assert engine.execute("SELECT x FROM t").table.num_rows == 2


def test_tables_do_not_pass_for_each_other(tmp_path: Path) -> None:
    for name, content in (("a", "x\n1\n"), ("b", "x\n2\n")):
        (tmp_path / f"{name}.csv").write_text(content)
    a, b = str(tmp_path / "a.csv"), str(tmp_path / "b.csv")
    straight = DuckDBSource(None, (SourceTable("a", a), SourceTable("b", b)))
    crossed = DuckDBSource(None, (SourceTable("a", b), SourceTable("b", a)))
    reordered = DuckDBSource(None, (SourceTable("b", b), SourceTable("a", a)))
    assert fingerprint(straight) != fingerprint(crossed)
    assert fingerprint(straight) == fingerprint(reordered)


def test_a_large_file_is_known_by_what_the_file_system_says(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BY_CONTENT_UP_TO_BYTES", 10)
    file = tmp_path / "people.parquet"
    shutil.copy2(files / "people.parquet", file)
    found = fingerprint(source(tmp_path, "parquet"))
    assert found == fingerprint(source(tmp_path, "parquet"))
    assert found != fingerprint(source(files, "parquet"))  # another inode
    os.utime(file, ns=(0, 0))
    assert found != fingerprint(source(tmp_path, "parquet"))


@pytest.mark.parametrize("form", ["duckdb", "parquet", "csv"])
def test_an_engine_refuses_bytes_that_were_written_over_as_if_nothing_had_changed(
    files: Path, tmp_path: Path, form: str
) -> None:
    """Neither the size nor the time of modification nor the inode is another."""
    file = Path(shutil.copy(files / f"people.{form}", tmp_path))
    stat = file.stat()
    with DuckDBEngine(source(tmp_path, form)) as engine:
        engine.execute("SELECT count(*) FROM people")
        with file.open("r+b") as stream:
            first = stream.read(1)
            stream.seek(0)
            stream.write(first)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        with pytest.raises(SourceFault, match="has changed"):
            engine.execute("SELECT count(*) FROM people")


def test_an_engine_refuses_a_file_that_was_renamed_away_and_back(
    files: Path, tmp_path: Path
) -> None:
    """A statement that ran meanwhile may have read another one in its place."""
    file = Path(shutil.copy(files / "people.parquet", tmp_path))
    with DuckDBEngine(source(tmp_path, "parquet")) as engine:
        file.rename(tmp_path / "away")
        (tmp_path / "away").rename(file)
        with pytest.raises(SourceFault, match="has changed"):
            engine.execute("SELECT count(*) FROM people")
