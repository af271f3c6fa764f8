"""How far a synopsis is off: 200 random ranges of TPC-H's orders, beside guesses that cost less.

    PYTHONPATH=.:tests python -m benchmarks.synopsis_error [--runs 20]

The statement is asked of 15,000 orders under the schema of `fixtures/tpch`, with epsilon = 1 of its
zcdp budget. `even` spreads the true number of rows over all cells; `alone` is the mean error of the
noise of each range asked for by itself, with its share of the same loss; `AIM` is the peer of
`benchmarks.aim` at the same loss, of the same units.

The second table is of ROWS rows with five keys of 2 to 9 values without an order, which depend on
each other, where a unit has one row: the mean of Σ|estimated - true| over the margins on three
keys, as a share of the rows, as AIM's paper has it, and its deviation from run to run. Seeds are
fixed.
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
from benchmarks.aim import aim, margins
from data import tpch
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.mwem_calibration import HistogramSensitivity, mwem_calibration
from dpsql.release.synopsis.mwem import fit_weights
from dpsql.session.session import Session

RANGES, ROWS_OF_A_UNIT, ROWS = 200, 40, 32_000
ORDERS = HistogramSensitivity(ROWS_OF_A_UNIT, 24, ROWS_OF_A_UNIT)
DELTA = Fraction(1, 2 * 10**6)
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


def dependent_keys() -> NDArray[np.int64]:
    """The rows of each combination of five keys without an order."""
    chance = np.random.default_rng(9)

    def given(values: int, other: NDArray[np.int64]) -> NDArray[np.int64]:
        odds = chance.dirichlet(np.full(values, 0.5), size=int(other.max()) + 1)
        return np.array([chance.choice(values, p=odds[one]) for one in other])

    hidden = chance.integers(0, 3, ROWS)
    first = given(7, hidden)
    second, third = given(9, first), given(2, hidden)
    fourth, fifth = given(6, 3 * third + hidden), given(5, second)
    cells = np.zeros((7, 9, 2, 6, 5), np.int64)
    np.add.at(cells, (first, second, third, fourth, fifth), 1)
    return cells


def margin_errors(runs: int) -> list[str]:
    """The second table: of synopses and of AIM, at several losses."""
    cells, unit = dependent_keys(), HistogramSensitivity(1, 1)
    of_three = [one for one in margins(cells.shape) if one.sizes.count(1) == 3]
    lines = ["| epsilon | synopsis | AIM |", "| --- | --- | --- |"]
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
        rho = rho_of_epsilon(epsilon, DELTA)
        made, _ = mwem_calibration([unit], 16 * 5, PrivacyLoss(Accounting.ZCDP, rho))
        off: list[list[float]] = []
        for run in range(runs):
            estimated = (
                fit_weights(cells, made, SeededRandomness(f"run {run}"), range(5)).estimates,
                aim(cells, unit, float(rho), np.random.default_rng(run)),
            )
            off.append(
                [
                    float(np.mean([np.abs(of.sums(one - cells)).sum() for of in of_three])) / ROWS
                    for one in estimated
                ]
            )
        means, deviations = np.mean(off, axis=0), np.std(off, axis=0)
        told = [f"{m:.3f} ± {d:.3f}" for m, d in zip(means, deviations, strict=True)]
        lines.append(f"| {float(epsilon):g} | {' | '.join(told)} |")
    return lines


def main() -> None:
    """Print the errors as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    with TemporaryDirectory() as folder, TemporaryDirectory() as home:
        cells = orders(tpch.generate(Path(folder)))
        errors = [error(estimates(Path(folder), Path(home), run), cells) for run in range(runs)]
    even = error(np.full(cells.shape, cells.mean()), cells)
    rho = float(rho_of_epsilon(Fraction(1), DELTA))
    whole = cells.astype(np.int64)
    peers = [
        error(aim(whole, ORDERS, rho, np.random.default_rng(run)), cells) for run in range(runs)
    ]
    alone = math.sqrt(2 / math.pi) * ROWS_OF_A_UNIT / math.sqrt(2 * rho / RANGES)
    lines = [
        "|  | mean | least | largest |",
        "| --- | --- | --- | --- |",
        f"| even | {even:,.0f} | | |",
        f"| alone | {alone:,.0f} | | |",
        f"| AIM | {np.mean(peers):,.0f} | {min(peers):,.0f} | {max(peers):,.0f} |",
        f"| synopsis | {np.mean(errors):,.0f} | {min(errors):,.0f} | {max(errors):,.0f} |",
        "",
        *margin_errors(runs),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
