"""Schemas of two thousand tables, and of a million listed values; what a process takes of them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
import pytest

COLUMNS, VALUES = 50, 150_000
TABLES: Final = (300, pytest.param(2000, marks=pytest.mark.slow))
"""Every run tries some hundred tables, the long batteries two thousand."""
HEAD = """\
dataset: large
source: large.duckdb
ledger: ledger.db
units: {person: {table: t0, key: id}}
budget: {epsilon: 10, delta: 1e-6, accounting: approx}
per_query: {epsilon: 0.1, delta: 1e-9}
tables:
"""


def many_tables(folder: Path, tables: int = 2000) -> Path:
    lines = [HEAD]
    with duckdb.connect(str(folder / "large.duckdb")) as connection:
        connection.begin()
        names = [f"c{number}" for number in range(COLUMNS - 1)]
        for number in range(tables):
            declared = ", ".join(f"{name} INTEGER" for name in names)
            connection.execute(f"CREATE TABLE t{number} (id BIGINT, {declared})")
            own = "{column: id, references: t0.id}" if number else "person"
            columns = ", ".join(f"{name}: {{bounds: [0, 90]}}" for name in names)
            key = "" if number else "key: id, "
            lines.append(f"  t{number}: {{{key}unit: {own}, columns: {{id: {{}}, {columns}}}}}\n")
        connection.execute(f"INSERT INTO t1 (id) FROM range({tables})")
        connection.commit()
    path = folder / "schema.yaml"
    path.write_text("".join(lines))
    return path


def many_values(folder: Path, values: int) -> Path:
    with duckdb.connect(str(folder / "large.duckdb")) as connection:
        connection.execute("CREATE OR REPLACE TABLE t0 AS SELECT i AS id, 'v' v FROM range(9) t(i)")
    listed = ", ".join(f"value {number}" for number in range(values))
    columns = f"{{id: {{type: bigint}}, v: {{type: varchar, values: [{listed}]}}}}"
    path = folder / "schema.yaml"
    path.write_text(f"{HEAD}  t0: {{key: id, unit: person, columns: {columns}}}\n")
    return path


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ended, with the time of processors and the memory that it took."""

    code: int
    told: str
    seconds: float
    megabytes: int


def measured(*arguments: object) -> Ended:
    """Run a command of dpsql, as the only child of a small process.

    To Linux, a process has had the memory of whoever started it.
    """
    command = [
        sys.executable,
        "-c",
        _ALONE,
        sys.executable,
        "-m",
        "dpsql.cli",
        *map(str, arguments),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds, kibibytes = ran.stdout.splitlines()[-1].split()
    told = ran.stdout + ran.stderr
    return Ended(ran.returncode, told, float(seconds), int(kibibytes) // 1024)


_ALONE: Final = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(code)
"""
