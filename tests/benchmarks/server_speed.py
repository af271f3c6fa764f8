"""How much longer a PostgreSQL server works for private answers than for plain ones.

    PYTHONPATH=tests python -m benchmarks.server_speed URL [--runs 3] [--only Q1,Q6] [--as OWNER]
        [--json FILE]

URL names a database with the tables of TPC-H and their primary keys, and a role that may only read
them. Each query is asked plainly, computed on the server, and computed here of rows that are
pulled, in turns: what is compared is processor time, that of the server's one backend (parallel
workers are switched off) and of this process, since machines are shared. Run it on the server's
machine, whose /proc tells what a backend took.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psycopg
from benchmarks.shapes import queries
from benchmarks.speed import BUDGET, FIXTURE

from dpsql.engine.opening import open_engine
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import Job, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.preparing.server_tables import prepare_server
from dpsql.session.session import Session

WAYS: Final = ("always", "never")
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_SETTINGS: Final = "-c max_parallel_workers_per_gather=0 -c jit=off"


@dataclass(frozen=True)
class Ways:
    """Medians of processor time in seconds: plain, computed on the server, and pulled.

    `pushed` is None where the server can't compute all of it; `chosen` is what `auto` takes.
    """

    name: str
    plain: float
    pushed: float | None
    pulled: float
    chosen: str
    estimates: tuple[str, ...]

    @property
    def ratio(self) -> float | None:
        return None if self.pushed is None else self.pushed / self.plain


def main() -> None:
    """Measure each query in all three ways, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--as", dest="owner", help="prepare the tables before, by this role")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = []
    only = list(queries()) if arguments.only is None else arguments.only.split(",")
    for ways in server_ways(arguments.url, only, arguments.runs, arguments.owner):
        found.append(ways)
        sys.stdout.write(f"{_line(ways)}\n")
        sys.stdout.flush()
    if arguments.json is not None:
        arguments.json.write_text(json.dumps([asdict(ways) for ways in found], indent=1) + "\n")


def server_ways(
    url: str, names: Collection[str], runs: int, owner: str | None = None
) -> Iterator[Ways]:
    """What each of the queries `names` takes on the server of `url`, plainly and privately.

    With an `owner`, its role has prepared the tables before.
    """
    with TemporaryDirectory() as name, psycopg.connect(url, options=_SETTINGS) as plain:
        os.environ["DPSQL_STATE"] = str(Path(name) / "state")
        plain.autocommit = True
        schemas = {how: _schema(url, how, Path(name)) for how in (*WAYS, "auto")}
        if owner is not None:
            with open_engine(engine_source(schemas["always"])) as engine:
                assert isinstance(engine, PostgresEngine)
                prepare_server(schemas["always"], engine, owner)
        for query, sql in queries().items():
            if query in names:
                yield _measured(query, sql, schemas, plain, runs)


def _schema(url: str, how: str, folder: Path) -> Schema:
    head, _, _ = FIXTURE.read_text(encoding="utf-8").partition("budget:")
    own = (
        url
        + ("&" if "?" in url else "?")
        + f"options={_SETTINGS.replace(' ', '%20').replace('=', '%3D')}"
    )
    source = f"source: {own}\nversion: 1\npush_down: {how}"
    path = folder / f"{how}.yaml"
    path.write_text(head.replace("source: data", source) + BUDGET, encoding="utf-8")
    return load_schema(path)


def _measured(
    name: str, sql: str, schemas: dict[str, Schema], plain: psycopg.Connection, runs: int
) -> Ways:
    auto = Session(schemas["auto"], epsilon=1).compile(sql)
    works: dict[str, Callable[[], float]] = {
        "plain": lambda: processor_seconds(
            plain.info.backend_pid, lambda: plain.execute(_plain(sql)).fetchall()
        )
    }
    engines: list[PostgresEngine] = []
    for how in WAYS:
        compiled = Session(schemas[how], epsilon=1).compile(sql)
        steps = tuple(release.step for release in compiled.releases)
        if how == "always" and any(step.pushed is None for step in steps):
            continue
        job = Job(engine_source(schemas[how]), steps)
        engine = open_engine(job.source)
        assert isinstance(engine, PostgresEngine)
        engines.append(engine)
        idle = engine._connections.take()
        ((pid,),) = idle.rows("SELECT pg_backend_pid()")
        engine._connections.give_back(idle)
        works[how] = lambda job=job, engine=engine, pid=pid: processor_seconds(  # type: ignore[misc]
            pid, lambda: run(job, engine, SystemRandomness())
        )
    times: dict[str, list[float]] = {how: [] for how in works}
    for number in range(runs + 1):
        for how, work in works.items():
            seconds = work()
            if number:
                times[how].append(seconds)
    for engine in engines:
        engine.close()
    medians = {how: statistics.median(seconds) for how, seconds in times.items()}
    ways = [release.ways for release in auto.releases if release.ways is not None]
    chosen = {"server" if each.pushed is not None else "pull" for each in ways}
    estimates = tuple(f"{w.name}: {float(w.estimate):.3g}" for each in ways for w in each.ways)
    return Ways(
        name,
        medians["plain"],
        medians.get("always"),
        medians["never"],
        "+".join(sorted(chosen)),
        estimates,
    )


def _plain(sql: str) -> bytes:
    """`sql` as PostgreSQL writes it."""
    median = "percentile_cont(0.5) WITHIN GROUP (ORDER BY o_totalprice)"
    return sql.replace("median(o_totalprice)", median).encode()


def processor_seconds(pid: int, work: Callable[[], object]) -> float:
    """The processor time of `work`, here and in the server's process `pid`."""
    before, own = _of_process(pid), time.process_time()
    work()
    return _of_process(pid) - before + time.process_time() - own


def _of_process(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _line(ways: Ways) -> str:
    pushed = "-" if ways.pushed is None else f"{ways.pushed:.2f} ({ways.ratio:.2f})"
    costs = f"{ways.name:10} plain {ways.plain:.2f}  pushed {pushed}  pulled {ways.pulled:.2f}"
    return f"{costs}  {ways.chosen}; {'; '.join(ways.estimates)}"


if __name__ == "__main__":
    main()
