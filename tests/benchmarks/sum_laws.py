"""Laws of what units contribute, by which sums are tried; tables in docs/ have their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import numpy as np
from privacy.ladder_data import Floats, incomes, pareto, rows, uniform, zipf

CUSTOMERS = 100_000
FINE = frozenset({"incomes", "the same, Zipf 1"})
"""Laws of values that are no integers."""

Law = Callable[[np.random.Generator], Floats]


def sum_laws(folder: Path) -> Mapping[str, Law]:
    """Each law by its name; `folder` has TPC-H, of scale 1."""
    with duckdb.connect() as connection:
        orders = f"FROM '{folder / 'orders.parquet'}'"
        by_customer = "GROUP BY o_custkey ORDER BY o_custkey"
        prices, totals = (
            np.asarray(connection.execute(sql).fetchnumpy()["price"], dtype=np.float64)
            for sql in (
                f"SELECT o_totalprice::DOUBLE AS price {orders} ORDER BY o_orderkey",
                f"SELECT sum(o_totalprice)::DOUBLE AS price {orders} {by_customer}",
            )
        )
    chances = 1 / np.arange(1, CUSTOMERS + 1)

    def skewed(random: np.random.Generator) -> Floats:
        """The same orders, of customers that have them in proportion to 1, 1/2, 1/3 …"""
        numbers = random.multinomial(prices.size, chances / chances.sum())
        customers = np.repeat(np.arange(CUSTOMERS), numbers)
        return np.asarray(np.bincount(customers, random.permutation(prices), CUSTOMERS), float)

    return {
        "incomes": incomes,
        "uniform, 1 to 40": uniform,
        "rows, log-normal": rows,
        "Zipf 2": zipf,
        "Pareto 1.3": pareto,
        "TPC-H, by customer": lambda _: totals,
        "the same, Zipf 1": skewed,
    }
