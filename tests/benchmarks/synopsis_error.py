"""How far a synopsis is off: 200 random ranges of TPC-H's orders, beside guesses that cost less.

    PYTHONPATH=.:tests python -m benchmarks.synopsis_error [--runs 40]

`even` spreads the true number of rows over all cells, `alone` is the mean error of each range asked
for by itself, with its share of the same loss. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
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

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.mwem_calibration import HistogramSensitivity, mwem_calibration
from dpsql.release.synopsis.mwem import fit_weights

RANGES = 200
ROWS_OF_A_UNIT = 40
"""Orders of a customer that count, at most, 24 of them in a cell, in 12 cells."""

_ROWS = """
SELECT
    CASE o_orderstatus WHEN 'F' THEN 0 WHEN 'O' THEN 1 ELSE 2 END,
    o_orderpriority[1]::INTEGER - 1,
    (year(o_orderdate) - 1992) * 12 + month(o_orderdate) - 1,
    count(*)
FROM read_parquet('{}') GROUP BY ALL
"""


def orders(folder: Path) -> NDArray[np.int64]:
    """The rows of each status, priority and month of seven years."""
    cells = np.zeros((3, 5, 84), np.int64)
    found = duckdb.connect().execute(_ROWS.format(folder / "orders.parquet")).fetchall()
    for status, priority, month, rows in found:
        cells[status, priority, month] = rows
    return cells


def ranges(shape: tuple[int, ...], count: int) -> list[tuple[slice, ...]]:
    """So many boxes of a grid, whose ends are drawn along each axis."""
    chance = random.Random("ranges")
    drawn = [[sorted(chance.choices(range(n), k=2)) for n in shape] for _ in range(count)]
    return [tuple(slice(a, b + 1) for a, b in ends) for ends in drawn]


def error(estimated: NDArray[np.float64], cells: NDArray[np.int64]) -> float:
    """The mean error of the ranges' sums, in rows."""
    asked = ranges(cells.shape, RANGES)
    return float(np.mean([abs(estimated[r].sum() - cells[r].sum()) for r in asked]))


def main() -> None:
    """Print the errors as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    runs = parser.parse_args().runs
    with TemporaryDirectory() as folder:
        cells = orders(tpch.generate(Path(folder)))
    rho = rho_of_epsilon(Fraction(1), Fraction(1, 2 * 10**6))
    moves = HistogramSensitivity(12, 24, ROWS_OF_A_UNIT)
    made, _ = mwem_calibration(moves, 8, PrivacyLoss(Accounting.ZCDP, rho))
    fits = (fit_weights(cells, made, SeededRandomness(f"run {n}")) for n in range(runs))
    errors = [error(weights, cells) for weights in fits]
    alone = math.sqrt(2 / math.pi) * ROWS_OF_A_UNIT / math.sqrt(2 * float(rho) / RANGES)
    lines = [
        "|  | mean | least | largest |",
        "| --- | --- | --- | --- |",
        f"| even | {error(np.full(cells.shape, cells.mean()), cells):,.0f} | | |",
        f"| alone | {alone:,.0f} | | |",
        f"| synopsis | {np.mean(errors):,.0f} | {min(errors):,.0f} | {max(errors):,.0f} |",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
