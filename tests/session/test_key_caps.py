"""Sums whose groups have caps of their own, by the units that a calibration counted in each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness
from session.test_ladders import only_release, spent

from dpsql.dbapi.connection import Connection
from dpsql.plan.bounded_release.bounded_release import OneRowPerUnit
from dpsql.plan.bounded_release.estimator import DividedSum
from dpsql.plan.bounded_release.statistic import CappedSum, Sum
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.digest.canonical_digest import release_digest
from dpsql.session.session import Session
from dpsql.structs import replace

SCHEMA = """
dataset: firms-by-state
source: firms.duckdb
neighbors: {neighbors}
group_size: {group_size}
units: {{firm: {{table: firms, key: f}}}}
tables:
  firms:
    key: f
    unit: firm
    limits: calibrated
    columns:
      f: {{type: bigint}}
      state: {{type: varchar, values: [TX, CA, VT, WY, GU]}}
      large: {{type: boolean, nullable: false}}
      profit: {{type: "decimal(12,2)", bounds: [-1000, 100000]}}
      staff: {{type: integer, bounds: [0, 100000]}}
      revenue: {{type: double}}
  shops:
    unit: row
    limits: calibrated
    columns:
      f: {{type: bigint}}
      state: {{type: varchar, values: [TX, CA, VT, WY, GU]}}
      large: {{type: boolean, nullable: false}}
      profit: {{type: "decimal(12,2)", bounds: [-1000, 100000]}}
      staff: {{type: integer, bounds: [0, 100000]}}
      revenue: {{type: double}}
budget: {{epsilon: 400, allow_large_epsilon: true}}
per_query: {{epsilon: 1, max_epsilon: 200}}
"""

FIRMS = 5000
STATES = ("TX", "CA", "VT", "WY", "GU", None)
OF_STATE = "SELECT state, sum({}) AS s FROM firms GROUP BY state"
ARGUMENTS = ("staff", "profit", "revenue")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path)


def made(folder: Path) -> Path:
    """Most firms are in one state, five in another, 35 in none, and nobody is in Guam."""
    with attached(folder / "firms.duckdb") as connection:
        connection.execute(
            "CREATE TABLE firms AS SELECT f, CASE WHEN f < 4400 THEN 'TX' WHEN f < 4900 THEN 'CA'"
            " WHEN f < 4960 THEN 'VT' WHEN f < 4965 THEN 'WY' END AS state, f % 2 = 0 AS large,"
            " exp(8 * ((f * 7919) % 5003) / 5003.0)::DECIMAL(12,2) AS profit, profit::INT AS staff,"
            f" profit::DOUBLE AS revenue FROM range({FIRMS}) t(f);"
            "CREATE TABLE shops AS FROM firms"
        )
    return folder


def opened(folder: Path, seed: str = "key caps", **relation: str | int) -> Connection:
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(**{"neighbors": "add_remove", "group_size": 1, **relation}))
    return Connection(Session(path, randomness=SeededRandomness(seed)))


def calibrated(connection: Connection, table: str = "firms") -> Connection:
    for argument in ARGUMENTS:
        connection.execute(f"CALIBRATE {table} MEASURE {argument} BY state FOR 20")
    return connection


@pytest.fixture(scope="module")
def of_all_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    with closing(calibrated(opened(made(tmp_path_factory.mktemp("firms"))))) as connection:
        yield connection


@pytest.fixture
def firms(of_all_tests: Connection) -> Connection:
    """A connection with settings of its own to firms that were calibrated once."""
    return Connection(of_all_tests._session)


def rows_of(connection: Connection, sql: str) -> list[Any]:
    """The rows of an answer, with its errors."""
    return list(connection.execute(sql).with_errors())


def divided(release: CompiledRelease) -> DividedSum:
    estimator = release.step.bounded.outputs[0].estimator
    assert isinstance(estimator, DividedSum)
    return estimator


def caps(release: CompiledRelease) -> dict[str | None, Fraction]:
    """What a unit's values sum to at most, by state."""
    value, *_ = release.step.bounded.contributions.statistics[::-1]
    assert isinstance(value.term, CappedSum | Sum)
    largest = value.term.cap if isinstance(value.term, CappedSum) else value.term.value.high
    factors = divided(release).factors.of_each(STATES)
    of_each = (largest * value.term.value.step / factor for factor in factors)
    return dict(zip(STATES, of_each, strict=True))


def within(folder: Path, argument: str, known: dict[str | None, Fraction]) -> dict[object, float]:
    """The true sum of each state, of values within its cap."""
    with attached(folder / "firms.duckdb", read_only=True) as connection:
        rows = connection.execute(f"SELECT state, {argument} FROM firms").fetchall()
    return {
        state: float(sum(min(Fraction(value), cap) for own, value in rows if own == state))
        for state, cap in known.items()
    }


def test_a_group_of_few_units_has_a_lower_cap(firms: Connection) -> None:
    known = caps(only_release(firms, OF_STATE.format("staff")))
    assert known["TX"] > known["VT"] > known["WY"]
    assert known["TX"] > known[None] > known["GU"]
    assert 2 * known["GU"] < known["TX"]


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_values_are_the_sums_within_the_caps_of_their_own_keys(
    firms: Connection, folder: Path, argument: str
) -> None:
    """Laplace noise passes eight half-widths with a probability of 0.05^8, 4e-11, in a group.

    Of the firms in no state there is then so much more than noise that another factor would show.
    """
    firms.execute("SET dpsql.epsilon = 30")
    known = caps(only_release(firms, OF_STATE.format(argument)))
    true = within(folder, argument, known)
    rows = rows_of(firms, OF_STATE.format(argument))
    widths = {row[0]: (float(row[1]), row[2]) for row in rows}
    assert widths.keys() == {*STATES}
    for state, (value, width) in widths.items():
        assert abs(value - true[state]) <= 8 * width + 1
        # ln 20 times the scale, which is a thirtieth of the cap, and a little for whole steps.
        assert width == pytest.approx(float(known[state]) / 10, rel=0.05)
    assert known[None] > known["GU"]
    assert true[None] > 32 * widths[None][1]


def test_what_is_left_out_is_told_of_each_group(firms: Connection, folder: Path) -> None:
    sql = OF_STATE.format("staff")
    known = caps(only_release(firms, sql))
    left, all_of = (
        within(folder, "staff", known),
        within(folder, "staff", dict.fromkeys(known, Fraction(10**9))),
    )
    cursor = firms.execute(sql).with_errors()
    assert [name for name, *_ in cursor.description or ()][3:] == [
        "s bias",
        "s bias low",
        "s bias high",
    ]
    rows: list[Any] = list(cursor)
    biases = {row[0]: row[3:] for row in rows}
    assert len({expected for expected, _, _ in biases.values()}) > 2
    for state in ("TX", "CA", "VT"):
        expected, low, high = biases[state]
        assert low <= expected <= high
        assert all_of[state] - left[state] <= 2 * high + 1
    (note,) = [note for note in only_release(firms, sql).limit_notes if "leave out" in note]
    total = sum(expected for expected, _, _ in biases.values())
    assert f"by state leave out about {total:,.3g} of" in note


@pytest.mark.parametrize("counted", ["", ", count(staff)"])
def test_rows_that_are_units_are_within_the_caps_of_their_own_keys(
    folder: Path, counted: str
) -> None:
    """The noise of a count is beside that of the values: eight half-widths of both, as above."""
    with closing(calibrated(opened(folder), "shops")) as connection:
        sql = f"SELECT state, sum(staff){counted} FROM shops GROUP BY state"
        release = only_release(connection, sql)
        assert isinstance(release.step.bounded.limited, OneRowPerUnit)
        known = caps(release)
        true = within(folder, "staff", known)
        rows = rows_of(connection, sql)
        widths = {row[0]: row[2] for row in rows}
        assert widths["WY"] < widths["VT"] < widths["TX"]
        for state, value, width, *_ in rows:
            assert abs(value - true[state]) <= 8 * width + 1


def test_an_answer_is_stored_with_its_caps(firms: Connection) -> None:
    sql = OF_STATE.format("staff")
    first, before = rows_of(firms, sql), spent(firms)
    assert rows_of(firms, f"SELECT * FROM ({sql}) t") == first
    assert spent(firms) == before


def test_caps_by_key_are_part_of_what_a_release_means(firms: Connection) -> None:
    sql = OF_STATE.format("staff")
    by_key = only_release(firms, sql)
    firms.execute("SET dpsql.epsilon = 3")
    other = only_release(firms, sql)
    assert caps(by_key) != caps(other)
    assert by_key.key != other.key
    bounded, estimator = by_key.step.bounded, divided(by_key)
    factors = replace(estimator.factors, otherwise=estimator.factors.otherwise + 1)
    (output,) = bounded.outputs
    changed = replace(output, estimator=replace(estimator, factors=factors))
    assert release_digest(bounded, {}) != release_digest(replace(bounded, outputs=(changed,)), {})


def test_the_error_that_is_told_before_is_that_of_the_highest_cap(firms: Connection) -> None:
    sql = OF_STATE.format("staff")
    cursor = firms.execute(sql)
    (column,) = cursor.privacy.columns if cursor.privacy else ()
    assert column.half_width == max(row[2] for row in rows_of(firms, sql))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT state, sum(staff), avg(staff) FROM firms GROUP BY state",
        OF_STATE.format("staff") + " OPTIONS (unit_sum = 5000)",
        "SELECT state, large, sum(staff) FROM firms GROUP BY state, large",
        "SELECT sum(staff) FROM firms",
        "SELECT state, sum(staff) FROM firms WHERE state = 'TX' GROUP BY state",
        "SELECT state, sum(DISTINCT staff) FROM firms GROUP BY state",
    ],
)
def test_elsewhere_one_cap_holds(firms: Connection, sql: str) -> None:
    query, _, options = sql.partition(" OPTIONS ")
    if options:
        firms.execute("SET dpsql.unit_sum = 5000")
    release = only_release(firms, query)
    assert not any(isinstance(o.estimator, DividedSum) for o in release.step.bounded.outputs)


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize("group_size", [1, 3])
def test_every_relation_has_caps_by_key(folder: Path, neighbors: str, group_size: int) -> None:
    with closing(opened(folder, neighbors=neighbors, group_size=group_size)) as connection:
        connection.execute("CALIBRATE firms MEASURE staff BY state FOR 100")
        connection.execute("SET dpsql.epsilon = 5")
        release = only_release(connection, OF_STATE.format("staff"))
        known, (change,) = caps(release), release.sensitivity.per_group
        (statistic,) = release.step.bounded.contributions.statistics
        units = group_size * (2 if neighbors == "change_one" else 1)
        # Of values from 0 on, one that is replaced moves a sum by as much as one that is left out.
        assert change * statistic.step == group_size * known["TX"] <= units * known["TX"]
        assert len(connection.execute(OF_STATE.format("staff")).fetchall()) == len(STATES)


def test_a_table_without_rows_is_answered(folder: Path) -> None:
    with attached(folder / "firms.duckdb") as connection:
        connection.execute("DELETE FROM firms")
    with closing(calibrated(opened(folder))) as empty:
        for argument in ("staff", "profit"):
            assert len(rows_of(empty, OF_STATE.format(argument))) == len(STATES)


def test_what_stands_above_the_sums_has_their_errors(firms: Connection) -> None:
    sql = f"SELECT * FROM ({OF_STATE.format('staff')}) t ORDER BY s DESC LIMIT 3"
    widths = [row[2] for row in rows_of(firms, sql)]
    assert all(above >= below for above, below in pairwise(widths))
    alone = {row[0]: row[2] for row in rows_of(firms, OF_STATE.format("staff"))}
    assert {*widths} <= {*alone.values()}


def test_groups_that_are_left_out_take_no_other_ones_error(firms: Connection) -> None:
    firms.execute("SET dpsql.min_units = 300")
    sql = "SELECT state, sum(staff) AS s, count(DISTINCT f) FROM firms GROUP BY state"
    widths = {row[0]: row[2] for row in rows_of(firms, sql)}
    known = caps(only_release(firms, sql))
    assert widths.keys() == {"TX", "CA"}
    assert widths["TX"] / widths["CA"] == pytest.approx(float(known["TX"] / known["CA"]), rel=0.02)


def test_a_kept_release_has_the_divided_sums(firms: Connection) -> None:
    query = OF_STATE.format("staff")
    first = rows_of(firms, query)
    firms.execute(f"CREATE RELEASE kept AS {query}")
    kept = {row[0]: row[1] for row in firms.execute("SELECT state, s FROM kept")}
    assert kept == {row[0]: row[1] for row in first}


def test_several_sums_have_their_own_caps(firms: Connection) -> None:
    """Where only some can have caps by key, none has; here all can."""
    sql = (
        "SELECT state, sum(staff), sum(profit), sum(staff) FILTER (WHERE large), count(*)"
        " FROM firms GROUP BY state"
    )
    release = only_release(firms, sql)
    kinds = [type(output.estimator).__name__ for output in release.step.bounded.outputs]
    assert kinds == ["DividedSum"] * 3 + ["LinearEstimator"]
    assert len(rows_of(firms, sql)) == len(STATES)


def test_one_cap_holds_where_totals_are_made_to_add_up(firms: Connection) -> None:
    sql = "SELECT state, sum(staff), count(*) FROM firms GROUP BY ROLLUP (state)"
    assert "unit_sum of staff by state" in explained(firms, sql)
    firms.execute("SET dpsql.consistent = on")
    assert "unit_sum of staff by state" not in explained(firms, sql)
    parts = rows_of(firms, f"{sql} ORDER BY grouping(state), state")
    *counts, everybody = [row[-2] for row in parts]
    assert sum(counts) == pytest.approx(everybody, abs=1)


def test_an_explanation_names_the_highest_caps_and_the_lowest(firms: Connection) -> None:
    text = explained(firms, OF_STATE.format("staff"))
    assert "unit_sum of staff by state = " in text
    assert "for 'TX'" in text
    assert "at least: chosen" in text
    assert "laplace, at the highest cap" in text
    assert "CASE WHEN" not in text


def explained(connection: Connection, sql: str) -> str:
    return "\n".join(str(line) for (line,) in connection.execute(f"EXPLAIN PRIVACY {sql}"))
