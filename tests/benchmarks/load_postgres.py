"""Loads TPC-H into a PostgreSQL database, for `benchmarks.server_speed` and the peers.

    PYTHONPATH=tests python -m benchmarks.load_postgres OWNER FOLDER [--reader tpch_reader]

OWNER names an empty database and a role that may make tables and roles; FOLDER holds the Parquet
files of TPC-H. Writes the connection string of a role that may only read them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

import duckdb
import psycopg
from benchmarks.speed import FIXTURE

from dpsql.schema.load.load import load_schema

_BLOCK: Final = 1 << 20


def main() -> None:
    """Make each table with its primary key, and a role that may read all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("owner")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", default="tpch_reader")
    arguments = parser.parse_args()
    with psycopg.connect(arguments.owner, autocommit=True) as owner:
        for name, table in load_schema(FIXTURE).tables.items():
            sys.stderr.write(f"loading {name}\n")
            load(owner, name, table.key or (), arguments.folder / f"{name}.parquet")
        owner.execute(f"CREATE ROLE {arguments.reader} LOGIN")
        owner.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {arguments.reader}")
        owner.execute("VACUUM ANALYZE")
    login = urlsplit(arguments.owner).netloc.rpartition("@")[0]
    sys.stdout.write(arguments.owner.replace(f"{login}@", f"{arguments.reader}@", 1) + "\n")


def load(owner: psycopg.Connection, name: str, key: tuple[str, ...], file: Path) -> None:
    """Make a table with the rows of a Parquet file."""
    rows = duckdb.read_parquet(str(file))
    kinds = zip(rows.columns, map(str, rows.types), strict=True)
    columns = ", ".join(f"{own} {kind}" for own, kind in kinds)
    owner.execute(f"CREATE TABLE {name} ({columns})")
    with TemporaryDirectory() as folder:
        csv = Path(folder) / f"{name}.csv"
        rows.write_csv(str(csv))
        with (
            csv.open("rb") as stream,
            owner.cursor() as cursor,
            cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv, HEADER)") as copy,
        ):
            while block := stream.read(_BLOCK):
                copy.write(block)
    if key:
        owner.execute(f"ALTER TABLE {name} ADD PRIMARY KEY ({', '.join(key)})")


if __name__ == "__main__":
    main()
