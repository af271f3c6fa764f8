"""The peak of a process that runs one query: resident memory beyond what it had before."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from dpsql.schema.decode import load_schema
from dpsql.session.ready import open_source
from dpsql.session.session import Session


def peak_megabytes(schema: Path, sql: str, *, private: bool) -> float:
    """Of `sql`, in a process of its own."""
    kind = "private" if private else "plain"
    command = [sys.executable, "-m", "benchmarks.memory", str(schema), kind, sql]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(found.stdout)


def main() -> None:
    """Print the peak of one query in MB."""
    path, kind, sql = sys.argv[1:]
    schema = load_schema(Path(path))
    session = Session(schema, epsilon="0.001")
    engine = open_source(schema)
    if kind == "private":
        session.prepare(sql)
    else:
        engine.fingerprint()
    before = _peak()
    if kind == "private":
        session.query(sql)
    else:
        engine.execute(sql)
    sys.stdout.write(f"{_peak() - before:.1f}\n")


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
