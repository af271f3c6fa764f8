"""How far a synopsis is off: 200 random ranges of TPC-H's orders, beside guesses that cost less.

    PYTHONPATH=.:tests python -m benchmarks.synopsis_error [--runs 20]

The statement is asked of 15,000 orders under the schema of `fixtures/tpch`, with epsilon = 1 of its
zcdp budget. `even` spreads the true number of rows over all cells; `alone` is the mean error of the
noise of each range asked for by itself, with its share of the same loss; `AIM` is the peer of
`benchmarks.aim` at the same loss, of the same units.

The second table is of ROWS rows with five keys of 2 to 9 values without an order, which depend on
each other, where a unit has one row: the mean of Σ|estimated - true| over the margins on three
keys, as a share of the rows, as AIM's paper has it, and its deviation from run to run.

The third is of as many rows with eight such keys, of 21,772,800 combinations, of which margins are
kept: over all margins on two and on three keys. `independent` takes the true counts of each key for
independent ones; `alone` measures each of these margins with its share of the same loss. Seeds are
fixed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
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
from dpsql.release.synopsis.factored.factored_table import fit_margins
from dpsql.release.synopsis.factored.margin_choice import margin
from dpsql.release.synopsis.factored.margin_model import MarginModel
from dpsql.release.synopsis.factored.occupied_cells import OccupiedCells
from dpsql.release.synopsis.mwem import fit_weights
from dpsql.release.synopsis.weight_fit import Measured
from dpsql.session.session import Session

RANGES, ROWS_OF_A_UNIT, ROWS = 200, 40, 32_000
ORDERS = HistogramSensitivity(ROWS_OF_A_UNIT, 24, ROWS_OF_A_UNIT)
DELTA = Fraction(1, 2 * 10**6)
EIGHT = (7, 9, 2, 6, 5, 12, 20, 24)
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


def given(values: int, other: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    """A key of so many values without an order, which depends on another one, row by row."""
    odds = chance.dirichlet(np.full(values, 0.5), size=int(other.max()) + 1)
    return np.array([chance.choice(values, p=odds[one]) for one in other])


def dependent_keys() -> NDArray[np.int64]:
    """The rows of each combination of five keys without an order."""
    chance = np.random.default_rng(9)
    hidden = chance.integers(0, 3, ROWS)
    first = given(7, hidden, chance)
    second, third = given(9, first, chance), given(2, hidden, chance)
    fourth, fifth = given(6, 3 * third + hidden, chance), given(5, second, chance)
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


def eight_keys() -> OccupiedCells:
    """Rows with eight keys, of which every second one depends on the one before it."""
    chance = np.random.default_rng(10)
    hidden = chance.integers(0, 4, ROWS)
    keys: list[NDArray[np.int64]] = []
    for place, values in enumerate(EIGHT):
        keys.append(given(values, keys[-1] if place % 2 else hidden, chance))
    return OccupiedCells(EIGHT, tuple(keys), np.ones(ROWS, np.int64))


def factored_errors(runs: int) -> list[str]:
    """The third table: of a synopsis that keeps margins, at several losses."""
    cells, unit = eight_keys(), HistogramSensitivity(1, 1)
    of = [[margin(EIGHT, axes) for axes in combinations(range(8), count)] for count in (2, 3)]
    single = [margin(EIGHT, axes) for axes in [(), *((axis,) for axis in range(8))]]
    one_way = MarginModel(EIGHT, [Measured(each, each.sums(cells) * 1.0, 1.0) for each in single])

    def off(model: MarginModel) -> list[float]:
        return [
            float(np.mean([np.abs(one.sums(model) - one.sums(cells)).sum() for one in among]))
            / ROWS
            for among in of
        ]

    def line(name: str, errors: Sequence[float]) -> str:
        return f"| {name} | {errors[0]:.3f} | {errors[1]:.3f} |"

    lines = ["|  | two keys | three keys |", "| --- | --- | --- |"]
    lines.append(line("independent", off(one_way)))
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
        rho = rho_of_epsilon(epsilon, DELTA)
        made, _ = mwem_calibration([unit], 8, PrivacyLoss(Accounting.ZCDP, rho))
        noise = math.sqrt(2 / math.pi * sum(map(len, of)) / (2 * float(rho)))
        alone = [noise * float(np.mean([one.boxes for one in among])) / ROWS for among in of]
        errors = [
            off(fit_margins(cells, made, 9, SeededRandomness(f"run {run}")).estimates)
            for run in range(runs)
        ]
        lines.append(line(f"epsilon = {float(epsilon):g}: alone", alone))
        mean = np.mean(errors, axis=0).tolist()
        lines.append(line(f"epsilon = {float(epsilon):g}: synopsis", mean))
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
        "",
        *factored_errors(runs),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
