"""Rows that are scaled into a ball: what sums and means of them are, and that none leaves it.

Answers are asked for with ε = 120, whose noise is beyond 1.5 with a probability below 10^-9.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.analysis.joint_sensitivity import statistic_groups
from dpsql.bounding.statistics.discretization import Grid
from dpsql.bounding.statistics.norm_ball import ball_grids
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.nodes import scalar
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import table, with_alias
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.statistic import Discretized, Statistic, Sum
from dpsql.plan.expression import Column
from dpsql.plan.operator import Scan
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Column as Declared
from dpsql.schema.model import RowUnit, Table
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.schema.row_norm import RowNorm
from dpsql.schema.sql_type import Double
from dpsql.session.session import Session

SCHEMA = """
dataset: walks
source: {source}
tables:
  walks:
    unit: row
    norm: {{columns: [east, north], {norm}}}
    columns:
      east: {{type: double}}
      north: {{type: double}}
      hours: {{type: integer, bounds: [0, 10]}}
budget: {{epsilon: 500, allow_large_epsilon: true}}
per_query: {{epsilon: 120}}
views: {{short: {{query: "SELECT east, north FROM walks", columns: {{east: {{bounds: [-1, 1]}}}}}}}}
"""


def opened(folder: Path, rows: str, norm: str = "l2: 5") -> Session:
    source = folder / "walks.duckdb"
    with attached(source) as connection:
        connection.execute(
            "CREATE TABLE walks AS SELECT east::DOUBLE AS east, north::DOUBLE AS north,"
            f" hours::INT AS hours FROM (VALUES {rows}) AS v(east, north, hours)"
        )
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(source=source, norm=norm))
    return Session(path, randomness=SeededRandomness("norms"))


def answered(session: Session, sql: str) -> list[float]:
    return [column.to_pylist()[0] for column in session.query(sql).table.columns]


def test_rows_beyond_the_norm_keep_their_direction(tmp_path: Path) -> None:
    with closing(opened(tmp_path, "(3, 4, 1), (30, 40, 1), (-300, 400, 1)")) as session:
        sums = answered(session, "SELECT sum(east), sum(north) FROM walks")
        assert sums == pytest.approx([3, 12], abs=1.5)
        means = answered(session, "SELECT avg(east), avg(north) FROM walks WHERE hours = 1")
        assert means == pytest.approx([1, 4], abs=1.5)


def test_an_absolute_norm_scales_too(tmp_path: Path) -> None:
    with closing(opened(tmp_path, "(1, 3, 1), (10, -30, 1)", "l1: 4")) as session:
        sums = answered(session, "SELECT sum(east), sum(north) FROM walks")
        assert sums == pytest.approx([2, 0], abs=1.5)


def test_what_is_no_number_is_missing_and_takes_nothing_from_its_row(tmp_path: Path) -> None:
    rows = "(2, NULL, 1), ('nan', 3, 1), ('-inf', 1, 1), (1e308, -1, 1), (NULL, NULL, 1)"
    with closing(opened(tmp_path, rows)) as session:
        sums = answered(session, "SELECT sum(east), sum(north), count(*) FROM walks")
        assert sums == pytest.approx([2, 3, 5], abs=1.5)


def test_one_column_alone_is_clamped_and_so_is_one_in_an_expression(tmp_path: Path) -> None:
    with closing(opened(tmp_path, "(3, 400, 1), (-7, 0, 1)")) as session:
        assert answered(session, "SELECT sum(east) FROM walks") == pytest.approx([-2], abs=1.5)
        total = answered(session, "SELECT sum(east + 0 * north) FROM walks")
        assert total == pytest.approx([-2], abs=1.5)


def test_bounds_that_a_view_declares_stand_for_the_norm(tmp_path: Path) -> None:
    with closing(opened(tmp_path, "(3, 4, 1), (-7, 0, 1), (4, 3, 1)")) as session:
        sums = answered(session, "SELECT sum(east), sum(north) FROM short")
        assert sums == pytest.approx([1, 7], abs=1.5)


def test_a_larger_norm_is_agreed_to_by_the_owner(tmp_path: Path) -> None:
    opened(tmp_path, "(1, 2, 3)").close()
    path = tmp_path / "schema.yaml"
    text = path.read_text()
    old = load_schema(path).policy
    for norm, says in [
        ("l2: 5.5}", "the norm of walks was l2: 5 of east, north, now l2: 5.5 of east, north"),
        ("l1: 5}", "now l1: 5 of east, north"),
    ]:
        path.write_text(text.replace("l2: 5}", norm))
        assert any(says in line for line in policy_relaxations(old, load_schema(path).policy))
    path.write_text(text.replace("norm:", "# norm:").replace("double}", "double, bounds: [0, 1]}"))
    gone = load_schema(path).policy
    assert any("now none" in line for line in policy_relaxations(old, gone))
    path.write_text(text.replace("l2: 5}", "l2: 4}"))
    tighter = load_schema(path).policy
    assert not [line for line in policy_relaxations(old, tighter) if "norm" in line]
    assert not [line for line in policy_relaxations(gone, old) if "norm" in line]


def scaled(order: int, radius: Fraction, names: str) -> list[Discretized]:
    """The values of the columns `names` in a ball, as sums of all of them are taken of."""
    columns = tuple(Column(number, name, Double()) for number, name in enumerate(names))
    declared = {c.name: Declared(c.name, c.type, (-radius, radius)) for c in columns}
    norm = RowNorm(tuple(names), radius, order)
    scan = Scan(Table("t", declared, RowUnit(), norm=norm), columns, Column(9, "u", Double()))
    calls = [AggregateCall(AggregateFunction.SUM, (c,), False, None, Double()) for c in columns]
    bounds = {c.id: (scan, norm) for c in columns}

    grids = ball_grids(bounds, calls, lambda *_: Grid(-1, 1, 10 * radius))
    return [grids[c].centered(c, 0) for c in columns]


HOSTILE = [
    *("0.0", "-0.0", "5e-324", "1e-160", "1e-9", "0.1", "1", "-1", "2.9999999999999996", "3", "4"),
    *("-5", "5.000000000000001", "1e15", "-1e120", "3e120", "1.7976931348623157e308", "inf", "nan"),
]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "radius", [Fraction(5), Fraction(1, 3), Fraction(10) ** 15, Fraction(1, 10**15)]
)
def test_no_row_leaves_its_ball_by_a_single_step(order: int, radius: Fraction) -> None:
    """In integers of Python's, of what DuckDB computes in doubles."""
    values = scaled(order, radius, "xy")
    items = [with_alias(scalar(v.argument), f"v{n}") for n, v in enumerate(values)]
    with attached() as connection:
        connection.execute("CREATE TABLE rows (c0 DOUBLE, c1 DOUBLE)")
        connection.executemany(
            "INSERT INTO rows VALUES (?::DOUBLE, ?::DOUBLE)", list(product(HOSTILE, HOSTILE))
        )
        connection.execute(
            "INSERT INTO rows SELECT tan(pi() * (random() - 0.5)) * 10 ** (random() * 40 - 20),"
            " tan(pi() * (random() - 0.5)) * 10 ** (random() * 40 - 20) FROM range(20000)"
        )
        found = connection.sql(rendered(select_of(items, table("rows")))).fetchall()
    steps = [v.step for v in values]
    assert len({*steps}) == 1
    limit = int((radius / steps[0]) ** order)
    for row in found:
        whole = [_of_steps(v or 0.0, steps[0]) for v in row]
        assert sum(abs(v) ** order for v in whole) <= limit, row
    assert any(v for row in found for v in row)


def _of_steps(value: float, step: Fraction) -> int:
    """How many steps a double is, as `Fraction(value) / step`, which takes four times as long."""
    above, below = value.as_integer_ratio()
    number, rest = divmod(above * step.denominator, below * step.numerator)
    assert not rest, value
    return number


def corners(order: int, count: int, *, squared: bool) -> Iterator[tuple[int, ...]]:
    sums = [Statistic(Sum(v), None) for v in scaled(order, Fraction(5), "abcdefgh"[:count])]
    for group in statistic_groups(sums, squared=squared):
        yield from group.corners


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("squared", [False, True])
def test_corners_bound_every_weighted_norm_of_a_ball(
    order: int, count: int, *, squared: bool
) -> None:
    """Of directions on a lattice, scaled to the ball's surface, in weights of five sizes."""
    power = 2 if squared else 1
    bounds = [*corners(order, count, squared=squared)]
    radius = max(max(corner) for corner in bounds)
    directions = [d for d in product(range(4), repeat=count) if any(d)]
    for weights in product((1, 7), repeat=count):
        worst = max(
            sum(w * c**power for w, c in zip(weights, corner, strict=True)) for corner in bounds
        )
        for direction in directions:
            length = sum(x**order for x in direction) ** (1 / order)
            reached = sum(
                w * (x * radius / length) ** power for w, x in zip(weights, direction, strict=True)
            )
            assert reached <= worst * (1 + 1e-12), (weights, direction)
