"""Units' sums that an engine keeps: found once, of one version of the data, and never a reason."""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from data.database import attached
from notes.exact import exact_mechanisms
from privacy.seeded import SeededRandomness
from session.jobs import job_of

from dpsql.engine import table_cache
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.engine import CachedTable
from dpsql.engine.opening import SourceEngine, open_engine
from dpsql.errors import ExecutionCancelled, ExecutionStopped
from dpsql.release.job import Job, Step, run
from dpsql.structs import replace

SCHEMA = """\
dataset: shop
source: shop.duckdb
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers: {unit: buyer, key: buyer, columns: {buyer: {type: bigint}}}
  sales:
    unit: {column: buyer, references: buyers.buyer}
    limits: LIMITS
    columns:
      buyer: {type: bigint}
      item: {type: varchar}
      weight: {type: double}
      price: {type: bigint, bounds: [-5, 100]}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""

ROWS = """
    SELECT i % 50 AS buyer, 'item ' || hash(i) % 12 AS item,
      ['0', '-0', 'nan', 'inf', NULL, '1.5'][(1 + hash(i, 'w') % 6)::INT]::DOUBLE AS weight,
      (hash(i, 'p') % 120)::INT - 10 AS price FROM range(2000) r(i)
    UNION ALL SELECT 60, NULL, NULL, NULL FROM range(9)
    UNION ALL SELECT 61, repeat('long', 9999) || i % 4, NULL, 2::BIGINT**62 FROM range(40) r(i)
    UNION ALL SELECT 62, 'item ' || i, i, 7 FROM range(20000) r(i)
    UNION ALL SELECT NULL, 'item 1', 1.5, 7 FROM range(3)
"""
"""Units in few groups and in very many, NULL, NaN, two zeros, long texts, and rows of nobody."""

ITEMS = "SELECT item, count(*), sum(price), avg(price) FROM sales GROUP BY item"
WEIGHTS = "SELECT weight, item, count(*) FROM sales GROUP BY weight, item"
SALT = "a salt"
LIMITS = "{groups: 3, rows_per_group: 2, rows: 5}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _write(tmp_path, ROWS)
    return tmp_path


def _write(folder: Path, rows: str) -> None:
    with attached(folder / "written.duckdb") as connection:
        connection.execute("CREATE TABLE buyers AS FROM range(70) r(buyer)")
        connection.execute(f"CREATE TABLE sales AS {rows}")
    (folder / "written.duckdb").replace(folder / "shop.duckdb")


def _job(sql: str, folder: Path, salt: str | None = SALT, limits: str = LIMITS) -> Job:
    """Whose answers are the integers of all groups."""
    job = job_of(sql, SCHEMA.replace("LIMITS", limits), folder)
    return replace(job, steps=tuple(map(_shown, job.steps)), cache_salt=salt)


def _shown(step: Step) -> Step:
    assert step.cached_sums is not None
    none = exact_mechanisms(len(step.bounded.contributions.statistics))
    return replace(step, measurement=replace(step.measurement, mechanisms=none, threshold=1))


def _answer(job: Job, engine: SourceEngine, seed: str = "seed") -> list[pa.Table]:
    return list(run(job, engine, SeededRandomness(seed)).values())


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The databases whose tables were filled, in order."""
    names: list[str] = []
    fill = table_cache.TableCache._fill

    def noted(self: table_cache.TableCache, table: object, read: object) -> None:
        names.append(table.database)  # type: ignore[attr-defined]
        fill(self, table, read)  # type: ignore[arg-type]

    monkeypatch.setattr(table_cache.TableCache, "_fill", noted)
    return names


@pytest.mark.parametrize("sql", [ITEMS, WEIGHTS])
def test_cached_sums_have_the_integers_of_the_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch, filled: list[str], sql: str
) -> None:
    job = _job(sql, folder)
    with open_engine(job.source) as engine:
        first, again = _answer(job, engine), _answer(job, engine, "another seed")
        assert len(filled) == 1
        monkeypatch.setattr(table_cache, "_MAX_ROWS", 0)
    with open_engine(job.source) as engine:
        assert _answer(job, engine) == first == again
        assert len(filled) == 1


def test_statements_of_other_limits_read_the_same_sums(folder: Path, filled: list[str]) -> None:
    wider = "{groups: 5, rows_per_group: 3, rows: 12}"
    jobs = [_job(ITEMS, folder, limits=limits) for limits in (LIMITS, wider)]
    with open_engine(jobs[0].source) as engine:
        few, more = (_answer(job, engine) for job in jobs)
    assert len(filled) == 1
    assert few != more


def test_another_salt_has_other_sums(folder: Path, filled: list[str]) -> None:
    job, other = _job(ITEMS, folder), _job(ITEMS, folder, "another salt")
    with open_engine(job.source) as engine:
        assert _answer(job, engine) != _answer(other, engine)
    assert len(filled) == 2
    assert len(set(filled)) == 1


def test_the_salt_is_not_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = _job(ITEMS, folder)
    shown: list[str] = []
    is_there = table_cache.TableCache._is_there

    def noted(self: table_cache.TableCache, table: CachedTable, read: dict[str, pa.Table]) -> bool:
        shown.append(repr(table))
        return is_there(self, table, read)

    monkeypatch.setattr(table_cache.TableCache, "_is_there", noted)
    with open_engine(job.source) as engine:
        _answer(job, engine)
    assert len(shown) == 1
    assert SALT not in repr(job) + shown[0]


def test_without_a_salt_nothing_is_kept(folder: Path, filled: list[str]) -> None:
    job = _job(ITEMS, folder, None)
    with open_engine(job.source) as engine:
        assert _answer(job, engine) != _answer(job, engine, "another seed")
    assert not filled


def test_changed_data_are_read_anew(folder: Path, filled: list[str]) -> None:
    job = _job(ITEMS, folder)
    with open_engine(job.source) as engine:
        before = _answer(job, engine)
        _write(folder, "SELECT 1 AS buyer, 'new' AS item, 1.5 AS weight, 7 AS price")
        with pytest.raises(ExecutionStopped):
            _answer(job, engine)
    with open_engine(job.source) as engine:
        assert _answer(job, engine) != before
    assert len(filled) == 2


def test_the_table_that_was_unused_longest_goes_first(folder: Path, filled: list[str]) -> None:
    sums = [
        _job(f"SELECT item, sum(price + {n}) FROM sales GROUP BY item", folder) for n in range(5)
    ]
    with open_engine(sums[0].source) as engine:
        for number in (0, 1, 2, 3, 0, 4, 0, 1):
            _answer(sums[number], engine)
    names = [step.cached_sums.name for job in sums for step in job.steps if step.cached_sums]
    assert filled == [names[n] for n in (0, 1, 2, 3, 4, 1)]


def test_what_cannot_be_filled_is_answered_without(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = _job(ITEMS, folder)
    with open_engine(job.source) as engine:
        expected = _answer(job, engine)

    def failing(*_: object) -> None:
        raise duckdb.OutOfMemoryException("a row")

    monkeypatch.setattr(table_cache.TableCache, "_fill", failing)
    with open_engine(job.source) as engine:
        assert _answer(job, engine) == expected


def test_a_table_that_is_interrupted_is_not_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = _job(ITEMS, folder)
    with open_engine(job.source) as engine:
        expected = _answer(job, engine)
    fill, engines = table_cache.TableCache._fill, list[DuckDBEngine]()

    def interrupted(
        self: table_cache.TableCache, table: CachedTable, read: dict[str, pa.Table]
    ) -> None:
        later = threading.Timer(0.05, engines[0].interrupt)
        later.start()
        long = "SELECT sum(hash(a.range, b.range)) FROM range(1000000) a, range(1000000) b"
        endless = f"SELECT * FROM ({table.sql}) WHERE ({long}) IS NOT NULL"
        fill(self, replace(table, sql=endless), read)

    with DuckDBEngine(job.source) as engine:  # type: ignore[arg-type]
        engines.append(engine)
        with monkeypatch.context() as patched:
            patched.setattr(table_cache.TableCache, "_fill", interrupted)
            with pytest.raises(ExecutionCancelled):
                _answer(job, engine)
        assert _answer(job, engine) == expected


def test_what_is_kept_is_let_go_of_where_memory_is_wanted(folder: Path) -> None:
    job = _job(ITEMS, folder)
    with DuckDBEngine(job.source) as engine:  # type: ignore[arg-type]
        _answer(job, engine)
        cache = engine._cache
        assert cache.forget()
        assert not cache.forget()
        databases = "SELECT database_name FROM duckdb_databases()"
        names = engine.execute(databases).table.column(0).to_pylist()
        assert not [name for name in names if name.startswith("cached")]
