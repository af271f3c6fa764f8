"""CREATE SYNOPSIS: paid once, queried freely; its price, and its error."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.errors import BadParameter, Error, NameTaken, Refused, SyntaxFault
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.mwem_calibration import (
    HistogramSensitivity,
    mwem_calibration,
)
from dpsql.release.synopsis.margin_bound import MarginBound
from dpsql.release.synopsis.margin_error import (
    BOUNDED_NOISE,
    MEASURED,
    SYNOPSIS_NOISE,
)
from dpsql.release.synopsis.mwem import fit_weights
from dpsql.session.answer.answer import ColumnPrivacy
from dpsql.session.answer.stored_answer import to_bytes
from dpsql.session.compile.request import SynopsisRequest
from dpsql.session.saved.synopsis_law import SynopsisLaw, synopsis_law
from dpsql.session.saved.table_law import decode_table_law, encode_table_law
from dpsql.session.session import Session
from dpsql.structs import replace

KEYS = (
    "SELECT o_orderstatus, o_orderpriority, date_trunc('month', o_orderdate) AS month FROM orders"
)
MADE = f"CREATE SYNOPSIS by_month ON {KEYS} WITH (epsilon = 1)"

Open = Callable[..., Connection]


@pytest.fixture
def connection(tpch_schema: Path) -> Iterator[Connection]:
    session = Session(tpch_schema, analyst="alice", randomness=SeededRandomness("synopsis"))
    with Connection(session) as found:
        yield found


def spent(connection: Connection) -> float:
    return float(connection.budget.dataset.epsilon_spent)


def ranges(shape: tuple[int, ...], count: int) -> list[tuple[slice, ...]]:
    chance = random.Random("ranges")
    drawn = [[sorted(chance.choices(range(n), k=2)) for n in shape] for _ in range(count)]
    return [tuple(slice(a, b + 1) for a, b in ends) for ends in drawn]


def test_a_generous_synopsis_is_near_the_rows() -> None:
    chance = np.random.default_rng(3)
    cells = chance.poisson(np.outer([5, 50, 500], np.arange(1, 33)))
    made, _ = mwem_calibration(
        [HistogramSensitivity(1, 1)], 8, PrivacyLoss(Accounting.ZCDP, Fraction(5))
    )
    found = fit_weights(cells.astype(np.int64), made, SeededRandomness("near")).estimates
    errors = [abs(found[r].sum() - cells[r].sum()) for r in ranges(cells.shape, 200)]
    assert np.mean(errors) < 0.005 * cells.sum()


def test_two_hundred_ranges_have_half_the_error_of_asking_for_each_and_of_an_even_spread(
    connection: Connection, tpch_folder: Path
) -> None:
    """Seeds are fixed: of the synopsis' noise, and of the ranges.

    Each count that is asked for alone has its share of the same ρ, and a unit the schema's 40 rows.
    """
    rows = connection.execute(MADE).fetchall()
    assert len(rows) == 3 * 5 * 84
    exact = {
        row[:3]: row[3]
        for row in duckdb.connect()
        .execute(
            "SELECT o_orderstatus, o_orderpriority, date_trunc('month', o_orderdate)::DATE,"
            f" count(*) FROM read_parquet('{tpch_folder}/orders.parquet') GROUP BY ALL"
        )
        .fetchall()
    }
    estimated = np.array([row[3] for row in rows]).reshape(3, 5, 84)
    true = np.array([exact.get((a, b, day_of(c)), 0) for a, b, c, _ in rows]).reshape(3, 5, 84)
    assert true.sum() == 15_000
    asked = ranges(true.shape, 200)
    errors = [abs(estimated[r].sum() - true[r].sum()) for r in asked]
    spread_evenly = [abs(true.sum() * true[r].size / true.size - true[r].sum()) for r in asked]
    assert np.mean(errors) <= np.mean(spread_evenly) / 2
    schema = connection.schema
    rho = rho_of_epsilon(Fraction(1), schema.budget.delta / 2)
    alone = math.sqrt(2 / math.pi) * 40 / math.sqrt(2 * float(rho) / 200)
    assert np.mean(errors) <= alone / 2


def day_of(found: object) -> object:
    return found.date() if hasattr(found, "date") else found


def test_it_is_paid_once_and_read_like_a_public_table(connection: Connection) -> None:
    connection.execute(MADE)
    cost = spent(connection)
    assert 0.9 < cost <= 1
    told = connection.execute(
        "SELECT o_orderstatus, sum(count) FROM by_month GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert [row[0] for row in told] == ["F", "O", "P"]
    connection.execute("SELECT count(*) FROM orders JOIN by_month USING (o_orderstatus)").fetchall()
    (row,) = connection.execute("SHOW dpsql.releases").fetchall()
    assert row[:3] == ("by_month", "synopsis", "alice")
    with pytest.raises(NameTaken):
        connection.execute(MADE)
    connection.execute("DROP SYNOPSIS by_month")
    before = spent(connection)
    connection.execute(MADE)
    assert spent(connection) == before


def shown(connection: Connection, sql: str) -> tuple[ColumnPrivacy | None, ...]:
    privacy = connection.execute(sql).privacy
    assert privacy is not None
    return privacy.shown_columns


def test_sums_over_what_was_measured_have_an_error_and_other_margins_a_bound(
    connection: Connection,
) -> None:
    connection.execute(MADE)
    (whole,) = shown(connection, "SELECT sum(count) AS n FROM by_month")
    assert whole is not None
    assert whole.mechanism == SYNOPSIS_NOISE
    assert whole.half_width == pytest.approx(1.959964 * whole.scale)
    # The number of rows has a twentieth of the loss, and each measurement tells it once more.
    assert 0 < whole.scale < 40 / math.sqrt(2 * 0.0229 / 20)
    assert shown(connection, "SELECT sum(count) FROM by_month WHERE count > 3") == (None,)
    *keys, cell = shown(connection, "SELECT * FROM by_month")
    assert keys == [None, None, None]
    assert cell is not None
    assert cell.mechanism == BOUNDED_NOISE
    assert cell.half_width is not None
    assert whole.half_width is not None
    # No round measured single cells, of which no more is known than that they have some rows.
    assert whole.half_width < cell.half_width < 15_000 + 10 * whole.half_width


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(count) FROM by_month WHERE month > DATE '1995-01-01'",
        "SELECT year(month) AS y, sum(count) AS n FROM by_month GROUP BY y",
        "SELECT o_orderstatus, sum(count) FROM by_month WHERE month < DATE '1995-01-01' GROUP BY 1",
        "SELECT sum(count) FILTER (WHERE month <> DATE '1995-01-01') FROM by_month",
        "SELECT sum(count) FROM by_month WHERE o_orderstatus = 'O' AND o_orderpriority LIKE '%U%'",
    ],
)
def test_a_sum_of_what_keys_choose_is_bounded_as_its_margin(
    connection: Connection, sql: str
) -> None:
    """Whether its blocks of months were measured or not: a range may cut them."""
    connection.execute(MADE)
    *_, summed = shown(connection, sql)
    assert summed is not None
    assert summed.mechanism == BOUNDED_NOISE
    assert summed.half_width is not None
    (whole,) = shown(connection, "SELECT sum(count) AS n FROM by_month")
    assert whole is not None
    assert summed.half_width > (whole.half_width or 0)


def test_a_synopsis_that_was_stored_before_is_read_without_errors(tpch_schema: Path) -> None:
    """Its table has keys and counts alone: what it measured, nobody wrote down."""
    session = Session(tpch_schema, analyst="alice")
    compiled = session.compile(KEYS, request=SynopsisRequest(8, Fraction(1)))
    session.close()
    (release,) = compiled.releases
    measured = "[[[4, 8, 128], 9.0], [[1, 8, 128], 4.0]]"
    table = pa.table({name: [measured if name == MEASURED else 0.0] for name in release.columns})
    old = to_bytes(table.drop_columns([MEASURED]))
    assert synopsis_law(compiled, lambda _: [old]) is None
    law = synopsis_law(compiled, lambda _: [to_bytes(table)])
    assert law is not None
    assert decode_table_law(json.loads(json.dumps(encode_table_law(law)))) == law
    assert law.variance("count", ["o_orderstatus"]) == 4
    assert law.variance("count", ["o_orderstatus", "month"]) is None
    assert law.variance("o_orderstatus", []) is None


def test_a_law_that_was_kept_before_there_were_sums_is_read() -> None:
    old = {
        "axes": [["sex"], ["ward"]],
        "values": ["count"],
        "shape": [2, 4],
        "measured": [[[2, 4], 9.0], [[1, 4], 8.0]],
        "half_widths": 1.96,
    }
    law = decode_table_law(old)
    assert isinstance(law, SynopsisLaw)
    assert law.variance("count", ["sex"]) == 8
    assert law.bound("count", ["ward"]) is None
    bounds = (MarginBound((0, 1), 30, 70), MarginBound((1,), 90, None))
    bounded = replace(law, noise=(replace(law.noise[0], bounds=bounds),))
    assert decode_table_law(json.loads(json.dumps(encode_table_law(bounded)))) == bounded
    assert bounded.bound("count", ["ward"]) == bounded.bound("count", [], ["ward"]) == 70
    assert bounded.bound("count", ["ward", "sex"]) == 30
    assert bounded.bound("count", ["ward"], ["sex"]) == 70
    of_two = replace(bounded, axes=(("sex", "age"), ("ward",)))
    assert of_two.bound("count", ["sex", "ward"]) == 70
    assert of_two.bound("count", ["sex", "age", "ward"]) == 30
    assert of_two.variance("count", ["sex"]) is None
    assert bounded.bound("other", ["ward"]) is None
    assert decode_table_law(json.loads(json.dumps(encode_table_law(law)))) == law


def test_sums_beside_the_rows_are_kept_with_their_errors(
    connection: Connection, tpch_folder: Path
) -> None:
    """Seeds are fixed: the mean price of an order is within a tenth of what it is."""
    connection.execute(
        "CREATE SYNOPSIS prices ON SELECT o_orderstatus, o_orderpriority, sum(o_totalprice)"
        " FROM orders WITH (epsilon = 1)"
    )
    assert 0.9 < spent(connection) <= 1
    ((mean,),) = connection.execute(
        "SELECT sum(sum_o_totalprice) / sum(count) AS mean FROM prices"
    ).fetchall()
    averaged = f"SELECT avg(o_totalprice) FROM '{tpch_folder}/orders.parquet'"
    exact = duckdb.connect().execute(averaged).fetchall()
    assert isinstance(mean, float)
    assert abs(mean / float(exact[0][0]) - 1) < 0.1
    total, count = shown(
        connection, "SELECT sum(sum_o_totalprice) AS total, sum(count) AS n FROM prices"
    )
    assert total is not None
    assert count is not None
    # A price is centred by 300,000 times the rows, whose noise it has beside its own.
    assert total.scale > 300_000 * count.scale
    kinds = connection.execute("SELECT * FROM prices").description
    assert [column[0] for column in kinds or ()] == [
        "o_orderstatus",
        "o_orderpriority",
        "sum_o_totalprice",
        "count",
    ]


def test_what_is_said_where_keys_tell_the_unit_runs(connection: Connection) -> None:
    with pytest.raises(Refused, match="of one unit alone") as refused:
        connection.execute(
            ON + "c_custkey, o_orderstatus FROM customer JOIN orders"
            " ON c_custkey = o_custkey WITH (epsilon = 1)"
        )
    assert refused.value.hint is not None
    _, _, instead = refused.value.hint.partition(": ")
    connection.execute(f"CREATE SYNOPSIS s ON {instead} WITH (epsilon = 1)")


def test_its_price_and_its_rounds_are_told_for_nothing(connection: Connection) -> None:
    text = str(connection.explain(MADE))
    assert SYNOPSIS_NOISE in text
    assert "16 rounds at most" in text
    assert "31 partitions" in text
    assert "by 40 rows at most" in text
    assert spent(connection) == 0


ON = "CREATE SYNOPSIS s ON SELECT "


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (ON + "o_clerk FROM orders WITH (epsilon = 1)", Refused),
        (ON + "o_orderstatus, count(*) FROM orders GROUP BY 1 WITH (epsilon = 1)", Refused),
        (ON + "DISTINCT o_orderstatus FROM orders WITH (epsilon = 1)", Refused),
        (
            ON + "upper(o_orderstatus) FROM orders GROUP BY o_orderstatus WITH (epsilon = 1)",
            Refused,
        ),
        (ON + "n_name FROM nation WITH (epsilon = 1)", Refused),
        (ON + "o_orderstatus, avg(o_totalprice) FROM orders WITH (epsilon = 1)", Refused),
        (ON + "o_orderstatus, sum(o_totalprice) + 1 FROM orders WITH (epsilon = 1)", Refused),
        (ON + "sum(o_totalprice) FROM orders WITH (epsilon = 1)", Refused),
        (ON + "o_orderstatus FROM orders", SyntaxFault),
        (ON + "o_orderstatus FROM orders WITH (rounds = 3)", SyntaxFault),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, rounds = 0)", SyntaxFault),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, rounds = 101)", SyntaxFault),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, other = 2)", BadParameter),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, epsilon = 2)", BadParameter),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, groups = -1)", BadParameter),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 100)", BadParameter),
        (
            "CREATE SYNOPSIS orders" + ON[17:] + "o_orderstatus FROM orders WITH (epsilon = 1)",
            NameTaken,
        ),
    ],
)
def test_what_has_no_synopsis_is_refused_for_nothing(
    connection: Connection, statement: str, error: type[Error]
) -> None:
    with pytest.raises(error):
        connection.execute(statement)
    assert spent(connection) == 0
