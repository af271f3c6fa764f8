"""The peak of a process that runs one query: resident memory beyond what it had before.

    PYTHONPATH=.:tests python -m benchmarks.memory SCHEMA private|plain SQL [LIMIT]

LIMIT is DuckDB's, as in 8GB: what needs more fails. Without one it is DuckDB's own default.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from dpsql.engine.opening import open_engine
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import Job, Step, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source


def peak_megabytes(schema: Path, sql: str, *, private: bool, limit: str | None = None) -> float:
    """Of `sql`, in a process of its own."""
    kind = "private" if private else "plain"
    limits = [] if limit is None else [limit]
    command = [sys.executable, "-m", "benchmarks.memory", str(schema), kind, sql, *limits]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(found.stdout)


def main() -> None:
    """Print the peak of one query in MB."""
    path, kind, sql, *limits = sys.argv[1:]
    schema = load_schema(Path(path))
    source = engine_source(schema)
    engine = open_engine(source, memory_limit=limits[0]) if limits else open_source(schema)
    session = Session(schema, epsilon="0.001")
    steps: tuple[Step, ...] = ()
    if kind == "private":
        steps = tuple(release.step for release in session.compile(sql).releases)
    engine.fingerprint()
    # The first imports pandas, where it is installed: 45 MB that no query takes.
    pa.array([0])
    before = _peak()
    if kind == "private":
        run(Job(source, steps), engine, SystemRandomness())
    else:
        engine.execute(sql)
    sys.stdout.write(f"{_peak() - before:.1f}\n")


def _peak() -> float:
    """In MB; of a process that was started by a large one, rusage has the other's peak."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (found,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(found.split()[1]) / 1024


if __name__ == "__main__":
    main()
