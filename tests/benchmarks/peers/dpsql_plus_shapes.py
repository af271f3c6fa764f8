"""What DPSQL+ is asked on Spark and on DuckDB, statements that are parsed already.

Its package is called `dpsql`, too, so that it is never installed beside this project. Its SQL joins
private tables by their units alone, and a line has none of its own, so that lines are joined with
their orders beforehand. Its limit is of a unit's rows, and the bounds are those of dpsql's schema.
It selects all keys by noisy counts, also those that dpsql's schema lists, and knows no median.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from benchmarks.peers.measured import DELTA, EPSILON, Rows
from dpsql.aggregation import Aggregation, AggregationColumn
from dpsql.dp_params import DPParams

ORDERS, LINES = 40, 120
"""Of a customer, at most so many rows are counted: `rows` of the limits in the schema of TPC-H."""

PRICE, QUANTITY, REVENUE, TOTAL = (900.0, 105e3), (1.0, 50.0), (810.0, 105e3), (0.0, 6e5)

_REVENUE: Final = "l_extendedprice * (1 - l_discount)"


@dataclass(frozen=True)
class Asked:
    """A shape: keys and values are `name: expression`, aggregates (function, name, bounds)."""

    tables: str
    limit: int
    keys: dict[str, str]
    values: dict[str, str]
    aggregates: tuple[tuple[str, str, tuple[float, float] | None], ...]

    @property
    def intermediate(self) -> str:
        """One row for each of a unit's, in the form that its backend reads; unparsed."""
        columns = {"o_custkey": "o_custkey", **self.keys, **self.values}
        listed = ", ".join(f"{expression} AS {name}" for name, expression in columns.items())
        return f"WITH asked AS (SELECT {listed} FROM {self.tables}) SELECT * FROM asked"

    @property
    def plain(self) -> str:
        """The same question without privacy."""
        values = {"*": "*", "o_custkey": "o_custkey", **self.values}
        shown = [*self.keys.values()]
        for function, name, _ in self.aggregates:
            distinct = "DISTINCT " if function == "COUNT_DISTINCT" else ""
            shown.append(f"{function.partition('_')[0]}({distinct}{values[name]})")
        grouped = f" GROUP BY {', '.join(self.keys.values())}" if self.keys else ""
        return f"SELECT {', '.join(shown)} FROM {self.tables}{grouped}"


COUNT = ("COUNT", "*", None)
PRIORITY: Final = {"o_orderpriority": "o_orderpriority"}
ASKED: Final = {
    "count": Asked("lines", LINES, {}, {}, (COUNT,)),
    "flags": Asked(
        "lines",
        LINES,
        {"l_returnflag": "l_returnflag", "l_linestatus": "l_linestatus"},
        {"quantity": "l_quantity", "price": "l_extendedprice", "revenue": _REVENUE},
        (
            COUNT,
            ("SUM", "quantity", QUANTITY),
            ("AVG", "price", PRICE),
            ("SUM", "revenue", REVENUE),
        ),
    ),
    "segment": Asked(
        "orders JOIN customer ON o_custkey = c_custkey",
        ORDERS,
        {"c_mktsegment": "c_mktsegment"},
        {"price": "o_totalprice"},
        (COUNT, ("SUM", "price", TOTAL)),
    ),
    "month": Asked(
        "lines",
        LINES,
        {"ship_month": "trunc(l_shipdate, 'month')"},
        {"revenue": _REVENUE},
        (("SUM", "revenue", REVENUE),),
    ),
    "clerk": Asked("orders", ORDERS, {"o_clerk": "o_clerk"}, {}, (COUNT,)),
    "distinct": Asked("orders", ORDERS, PRIORITY, {}, (("COUNT_DISTINCT", "o_custkey", None),)),
}


def answer(backend: Any, asked: Asked, limit: int) -> Rows:
    """What its backend answers, at most `limit` rows of a unit counted."""
    columns, bounds = [], []
    for function, name, clipped in asked.aggregates:
        columns.append(AggregationColumn(Aggregation[function], [name]))
        bounds.append(None if clipped is None else [clipped])
    params = DPParams(limit, bounds, epsilon=EPSILON, delta=DELTA)
    keys = list(asked.keys)
    done = backend.execute_sql("o_custkey", params, asked.intermediate, columns, keys, [])
    rows: Rows = list((done.reset_index() if keys else done).itertuples(index=False))
    return rows
