"""What memory doesn't hold: enciphered on disk, in a folder that doesn't outlive its process."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from engine.spilling import spill_without_httpfs, with_own_generator

from dpsql.engine.duckdb import spill
from dpsql.engine.duckdb.catalog import read_catalog
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.source import DuckDBSource, Spill
from dpsql.errors import SourceFault

TESTS = Path(__file__).parent.parent
MARK = "a secret word of one unit "
HELD = f"CREATE TEMP TABLE held AS SELECT '{MARK}' || i AS word, hash(i) h FROM range(1000000) t(i)"
REPOSITORIES = "SELECT current_setting('allow_extension_repositories')"
MANY = "SELECT count(*) AS n FROM (SELECT DISTINCT 'word ' || i FROM range(1000000) t(i))"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DuckDBSource:
    spill_without_httpfs(monkeypatch)
    return DuckDBSource(spill=Spill(str(tmp_path / "ledger.db.spill"), 1))


def opened(source: DuckDBSource) -> DuckDBEngine:
    return DuckDBEngine(source, memory_limit="24MB", threads=1)


def folders(source: DuckDBSource) -> list[Path]:
    assert source.spill is not None
    return sorted(Path(source.spill.target).parent.glob("ledger.db.spill*"))


def test_the_extension_is_loaded_before_extensions_are_forbidden(
    source: DuckDBSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def load(connection: duckdb.DuckDBPyConnection) -> None:
        [[allowed]] = connection.execute(REPOSITORIES).fetchall()
        read.append(allowed)
        with_own_generator(connection)

    monkeypatch.setattr(spill, "load_cipher", load)
    with duckdb.connect(str(tmp_path / "t.duckdb")) as written:
        written.execute("CREATE TABLE t (i INTEGER)")
    read_catalog(DuckDBSource(str(tmp_path / "t.duckdb")))  # in a database that forbids them
    opened(source).close()
    assert read
    assert "forbidden" not in read


def test_spilled_rows_are_in_no_file(source: DuckDBSource) -> None:
    with opened(source) as engine:
        assert engine.execute(MANY).table["n"].to_pylist() == [1_000_000]
        with engine._cursors.one() as cursor:
            cursor.execute(HELD)
            (folder,) = folders(source)
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            written = [file.read_bytes() for file in folder.iterdir()]
            assert sum(map(len, written)) > 2**22
            assert not any(MARK.encode() in data for data in written)
    assert folders(source) == []


def test_long_texts_that_are_spilled_are_in_no_file(source: DuckDBSource) -> None:
    with opened(source) as engine, engine._cursors.one() as cursor:
        cursor.execute("CREATE TEMP TABLE held (word VARCHAR)")
        for number in range(100):
            long = f"string_agg('{MARK}' || hash(i + {number}), ' ') FROM range(8000) t(i)"
            cursor.execute(f"INSERT INTO held SELECT {long}")
        (folder,) = folders(source)
        written = [file.read_bytes() for file in folder.iterdir()]
        assert sum(map(len, written)) > 2**22
        assert not any(MARK.encode() in data for data in written)


def test_an_engine_that_spills_in_clear_is_not_opened(
    source: DuckDBSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_clear(folder: Path, gigabytes: int) -> dict[str, str]:
        return {**settings(folder, gigabytes), "temp_file_encryption": "false"}

    settings = spill._settings
    monkeypatch.setattr(spill, "_settings", in_clear)
    with pytest.raises(SourceFault, match="doesn't encipher what it spills"):
        opened(source)
    assert folders(source) == []


def test_without_a_cipher_nothing_is_opened_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # where extensions are installed
    spill._check_enciphered.cache_clear()
    source = DuckDBSource(spill=Spill(str(tmp_path / "ledger.db.spill"), 1))
    with pytest.raises(SourceFault, match="httpfs") as fault:
        opened(source)
    assert "install_extension('httpfs')" in (fault.value.hint or "")
    assert folders(source) == []


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spill_without_httpfs(monkeypatch)
    (tmp_path / "file").touch()
    source = DuckDBSource(spill=Spill(str(tmp_path / "file" / "ledger.db.spill"), 1))
    with pytest.raises(SourceFault, match="nothing can be spilled beside"):
        opened(source)


CHILD = f"""
import resource, signal, sys
from engine.spilling import with_own_generator
from dpsql.engine.duckdb import spill
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.source import DuckDBSource, Spill
from dpsql.errors import ExecutionStopped

spill.load_cipher = with_own_generator
engine = DuckDBEngine(DuckDBSource(spill=Spill(sys.argv[1], 1)), memory_limit="24MB", threads=1)
engine._connection.execute({HELD!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))  # as a disk that is full
try:
    engine.execute({MANY!r})
except ExecutionStopped as error:
    print(error, error.__context__)
print(engine.execute("SELECT 1 AS one").table["one"].to_pylist(), flush=True)
sys.stdin.read()
"""


def test_what_a_killed_process_left_is_removed_and_nothing_else(source: DuckDBSource) -> None:
    assert source.spill is not None
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(TESTS)!r})\n{CHILD}"]
    with subprocess.Popen(
        [*command, source.spill.target], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        full_disk = "the query failed while it ran; its charge stands None\n"
        assert [child.stdout.readline(), child.stdout.readline()] == [full_disk, "[1]\n"]
        (left,) = folders(source)
        other = left.with_name("ledger.db.spilled")
        other.mkdir()
        with opened(source) as engine:  # the other folder is in use
            assert left in folders(source)
            assert engine.execute(MANY).table["n"].to_pylist() == [1_000_000]
        child.kill()
    assert folders(source) == [left, other]
    assert any(file.stat().st_size > 2**19 for file in left.iterdir())
    opened(source).close()
    assert folders(source) == [other]
