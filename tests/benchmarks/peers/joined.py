"""What DPSQL+ reads: lines that are joined with their orders, since it joins by units alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import duckdb

JOINED: Final = """
COPY (SELECT o_custkey, l_returnflag, l_linestatus, l_quantity, l_extendedprice, l_discount,
    l_shipdate
  FROM '{0}/lineitem.parquet' JOIN '{0}/orders.parquet' ON l_orderkey = o_orderkey)
  TO '{1}/lines.parquet'
"""


@contextmanager
def joined(folder: Path) -> Iterator[str]:
    """The name of a folder with its tables, made of TPC-H's in `folder`."""
    with TemporaryDirectory() as name:
        for table in ("orders", "customer"):
            (Path(name) / f"{table}.parquet").symlink_to(folder / f"{table}.parquet")
        duckdb.execute(JOINED.format(folder, name))
        yield name
