"""How far a synopsis is off: 200 random ranges of TPC-H's orders, beside guesses that cost less.

    PYTHONPATH=.:tests python -m benchmarks.synopsis_error [--runs 20]

The statement is asked of 15,000 orders under the schema of `fixtures/tpch`, with epsilon = 1 of its
zcdp budget. `even` spreads the true number of rows over all cells; `alone` is the mean error of the
noise of each range asked for by itself, with its share of the same loss. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
from data import tpch
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.session.session import Session

RANGES, ROWS_OF_A_UNIT = 200, 40
SCHEMA = Path(__file__).parents[2] / "fixtures" / "tpch" / "schema.yaml"
KEYS = "o_orderstatus, o_orderpriority, date_trunc('month', o_orderdate)"
MADE = f"CREATE OR REPLACE SYNOPSIS s ON SELECT {KEYS} AS month FROM orders WITH (epsilon = 1)"
ORDERED = "SELECT count FROM s ORDER BY o_orderstatus, o_orderpriority, month"
EXACT = """
SELECT
    CASE o_orderstatus WHEN 'F' THEN 0 WHEN 'O' THEN 1 ELSE 2 END,
    o_orderpriority[1]::INTEGER - 1,
    (year(o_orderdate) - 1992) * 12 + month(o_orderdate) - 1,
    count(*)
FROM read_parquet('{}') GROUP BY ALL
"""


def orders(folder: Path) -> NDArray[np.float64]:
    """The rows of each status, priority and month of seven years."""
    cells = np.zeros((3, 5, 84))
    found = duckdb.connect().execute(EXACT.format(folder / "orders.parquet")).fetchall()
    for status, priority, month, rows in found:
        cells[status, priority, month] = rows
    return cells


def estimates(folder: Path, home: Path, run: int) -> NDArray[np.float64]:
    """The counts of a synopsis of its own, with a ledger of its own."""
    text = SCHEMA.read_text(encoding="utf-8").replace("source: data", f"source: {folder}")
    schema = home / f"run_{run}.yaml"
    schema.write_text(text, encoding="utf-8")
    os.environ["DPSQL_STATE"] = str(home / f"run_{run}")
    randomness = SeededRandomness(f"run {run}")
    with Connection(Session(schema, analyst="alice", randomness=randomness)) as connection:
        connection.execute(MADE)
        rows = connection.execute(ORDERED).fetchall()
    return np.array([count for (count,) in rows]).reshape(3, 5, 84)


def error(estimated: NDArray[np.float64], cells: NDArray[np.float64]) -> float:
    """The mean error of the ranges' sums, in rows."""
    chance = random.Random("ranges")
    drawn = [[sorted(chance.choices(range(n), k=2)) for n in cells.shape] for _ in range(RANGES)]
    asked = [tuple(slice(a, b + 1) for a, b in ends) for ends in drawn]
    return float(np.mean([abs(estimated[r].sum() - cells[r].sum()) for r in asked]))


def main() -> None:
    """Print the errors as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    with TemporaryDirectory() as folder, TemporaryDirectory() as home:
        cells = orders(tpch.generate(Path(folder)))
        errors = [error(estimates(Path(folder), Path(home), run), cells) for run in range(runs)]
    even = error(np.full(cells.shape, cells.mean()), cells)
    rho = float(rho_of_epsilon(Fraction(1), Fraction(1, 2 * 10**6)))
    alone = math.sqrt(2 / math.pi) * ROWS_OF_A_UNIT / math.sqrt(2 * rho / RANGES)
    lines = [
        "|  | mean | least | largest |",
        "| --- | --- | --- | --- |",
        f"| even | {even:,.0f} | | |",
        f"| alone | {alone:,.0f} | | |",
        f"| synopsis | {np.mean(errors):,.0f} | {min(errors):,.0f} | {max(errors):,.0f} |",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
