"""Grouping sets that add up: exactly, at less noise than was drawn, free, and only on request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from narrowed import integer, number
from neighbor_search.share import in_turn
from privacy.seeded import SeededRandomness
from session.asking import Asking

from dpsql.bounding.options import ReleaseOptions
from dpsql.release.add_noise import NoisyGroups
from dpsql.release.columns.confidence_interval import Combined
from dpsql.release.columns.group_keys import listed_keys
from dpsql.release.columns.released_table import columns
from dpsql.release.joint_noise import noisy_integers
from dpsql.session.answer.answer import Answer
from dpsql.session.options import DEFAULT_OPTIONS, AnswerOptions, QueryOptions
from dpsql.session.session import Session
from dpsql.structs import replace

SCHEMA = """
dataset: totals
source: {source}
units:
  customer: {{table: customer, key: c_custkey}}
tables:
  customer:
    key: c_custkey
    unit: customer
    columns:
      c_custkey: {{type: bigint}}
      c_name: {{type: varchar}}
      c_mktsegment:
        {{type: varchar, nullable: false,
         values: [AUTOMOBILE, BUILDING, FURNITURE, HOUSEHOLD, MACHINERY]}}
      c_nationkey: {{type: bigint, references: nation.n_nationkey, nullable: false}}
      c_acctbal: {{type: "decimal(15,2)", bounds: [-1000, 10000]}}
  orders:
    key: o_orderkey
    unit: {{column: o_custkey, references: customer.c_custkey}}
    limits: {{groups: 6, rows_per_group: 3}}
    columns:
      o_orderkey: {{type: bigint}}
      o_custkey: {{type: bigint}}
      o_orderstatus: {{type: varchar, nullable: false, values: [F, O, P]}}
      o_orderpriority:
        {{type: varchar, nullable: false,
          values: [1-URGENT, 2-HIGH, 3-MEDIUM, "4-NOT SPECIFIED", 5-LOW]}}
      o_totalprice: {{type: "decimal(15,2)", bounds: [0, 500000],
        nullable: false}}
      o_clerk: {{type: varchar}}
  nation: {{public: true, key: n_nationkey}}
  region: {{public: true, key: r_regionkey}}
budget: {budget}
per_query: {{epsilon: 1, max_epsilon: 2{delta}}}
"""

PURE = "{epsilon: 64, accounting: pure}"
ZCDP = "{epsilon: 64, delta: 1.0e-6, accounting: zcdp}"
APPROX = "{epsilon: 64, delta: 1.0e-2, accounting: approx}"

CUBE = (
    "SELECT o_orderstatus AS s, o_orderpriority AS p, count(*) AS n, sum(o_totalprice) AS v,"
    " avg(o_totalprice) AS a FROM orders GROUP BY CUBE (s, p)"
)
ROLLUP = CUBE.replace("CUBE", "ROLLUP")
NATIONS = (
    "SELECT r_name, n_name, c_mktsegment, count(*) AS n, sum(c_acctbal) AS v FROM customer"
    " JOIN nation ON c_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey"
)

Open = Callable[..., Asking]

CONSISTENT = QueryOptions(answer=AnswerOptions(consistent=True))


@pytest.fixture
def opened(tpch_folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Open:
    def make(budget: str = PURE, *, consistent: bool = True, seed: str = "totals") -> Asking:
        delta = ", delta: 1.0e-6" if "approx" in budget else ""
        path = tmp_path / "schema.yaml"
        path.write_text(SCHEMA.format(source=tpch_folder, budget=budget, delta=delta))
        session = Session(path, randomness=SeededRandomness(seed))
        request.addfinalizer(session.close)
        return Asking(session, CONSISTENT if consistent else DEFAULT_OPTIONS)

    return make


def rows(answer: Answer) -> Iterator[tuple[object, ...]]:
    return zip(*(column.to_pylist() for column in answer.table.columns), strict=True)


def each_width(answer: Answer, column: int) -> list[float]:
    """Of every row, how far noise may have moved its value."""
    width = answer.half_widths[column]
    assert width is not None
    return [width] * answer.table.num_rows if isinstance(width, float) else width.to_pylist()


def add_up(answer: Answer, keys: int, *values: int) -> bool:
    """Whether the values of each level sum to those of every level with fewer keys."""
    levels: dict[tuple[bool, ...], dict[tuple[object, ...], list[Decimal]]] = defaultdict(dict)
    for row in rows(answer):
        key = row[:keys]
        # No key has a NULL of its own here.
        level = tuple(part is not None for part in key)
        levels[level][key] = [Decimal(str(row[value])) for value in values]
    assert len(levels) > 1
    for above, totals in levels.items():
        for below, parts in levels.items():
            if above != below and all(b or not a for a, b in zip(above, below, strict=True)):
                sums = {key: [Decimal(0)] * len(values) for key in totals}
                for key, found in parts.items():
                    short = tuple(k if a else None for k, a in zip(key, above, strict=True))
                    sums[short] = [x + y for x, y in zip(sums[short], found, strict=True)]
                if sums != totals:
                    return False
    return True


LEVELS = {
    "cube": (CUBE, 2, (2, 3)),
    "rollup": (ROLLUP, 2, (2, 3)),
    "sets": (CUBE.replace("CUBE (s, p)", "GROUPING SETS ((s), (p), ())"), 2, (2, 3)),
    "three keys": (f"{NATIONS} GROUP BY ROLLUP (r_name, n_name, c_mktsegment)", 3, (3, 4)),
    "two keys as one": (f"{NATIONS} GROUP BY CUBE ((r_name, n_name), c_mktsegment)", 3, (3, 4)),
}


@pytest.mark.parametrize(
    ("budget", "sql", "keys", "values"),
    in_turn(
        (
            (f"{name}-{accounting}", (budget, *levels))
            for name, levels in LEVELS.items()
            for accounting, budget in (("pure", PURE), ("zcdp", ZCDP), ("approx", APPROX))
        ),
        share=4,
    ),
)
def test_totals_add_up_exactly(
    opened: Open, budget: str, sql: str, keys: int, values: tuple[int, ...]
) -> None:
    session = opened(budget, consistent=False)
    assert not add_up(session.query(sql), keys, *values)
    session.options = CONSISTENT
    before = session.balance().spent
    answer = session.query(sql)
    assert add_up(answer, keys, *values)
    # What was drawn is what it was: nothing is charged, and the setting may be switched back.
    assert answer.privacy.stored
    assert session.balance().spent == before
    assert any("made to add up" in note for note in answer.privacy.notes)
    assert session.query(sql).table == answer.table


def test_what_is_drawn_and_charged_is_the_same_with_the_setting(opened: Open) -> None:
    plain, consistent = opened(consistent=False), opened()
    raw = plain.compile(CUBE)
    shown = consistent.compile(CUBE)
    assert [r.key for r in raw.releases] == [r.key for r in shown.releases]
    assert raw.loss == shown.loss


def test_means_are_those_of_the_sums_and_counts_that_add_up(opened: Open) -> None:
    session = opened()
    session.options = replace(CONSISTENT, epsilon=Fraction(2))
    # A mean whose rows may be noise is NULL.
    found = [row for row in rows(session.query(CUBE)) if row[4] is not None]
    assert found
    for _, _, count, total, mean in found:
        assert mean == pytest.approx(max(float(number(total) / integer(count)), 0))


def test_errors_beside_the_values_are_those_of_what_adds_up(opened: Open) -> None:
    sql = (
        "SELECT o_orderstatus, count(*) AS n, dp_interval_high(count(*)) AS high,"
        " dp_stddev(avg(o_totalprice)) AS d FROM orders GROUP BY ROLLUP (o_orderstatus)"
    )
    session = opened(consistent=False)
    raw = session.query(sql)
    session.options = CONSISTENT
    shown = session.query(sql)
    for answer in (raw, shown):
        widths = each_width(answer, 1)
        for (_, count, high, _), width in zip(rows(answer), widths, strict=True):
            assert number(high) - integer(count) == width
    pairs = list(zip(rows(raw), rows(shown), strict=True))
    assert all(number(before[3]) > number(after[3]) for before, after in pairs)


@pytest.mark.parametrize("budget", [PURE, ZCDP, APPROX], ids=["pure", "zcdp", "approx"])
@pytest.mark.parametrize("sql", [CUBE, ROLLUP], ids=["cube", "rollup"])
def test_every_level_is_less_noisy_than_it_was_drawn(opened: Open, budget: str, sql: str) -> None:
    session = opened(budget, consistent=False)
    raw = session.query(sql)
    session.options = CONSISTENT
    shown = session.query(sql)
    # Of noise that is drawn together, sums are told to have 2.12 deviations as their half-width,
    # single values have their own, of 1.645 or more: a smaller deviation may be wider.
    rounding = 1.0 if budget == ZCDP else 2.12 / 1.645
    for column in (2, 3):
        widths = [each_width(answer, column) for answer in (raw, shown)]
        assert all(b * rounding >= a for b, a in zip(*widths, strict=True))
        assert any(b > a for b, a in zip(*widths, strict=True))
    assert shown.half_widths[0] is None
    assert shown.half_widths[4] is not None  # of a mean's interval, row by row


@pytest.mark.parametrize("budget", [PURE, ZCDP, APPROX], ids=["pure", "zcdp", "approx"])
def test_totals_lie_within_their_errors_in_95_of_100_draws(opened: Open, budget: str) -> None:
    """Of 1,000 draws of the noise, at least 92.5 % are within, of the total and of a part.

    At 95 % exactly, fewer are with probability 3e-4 for each of the six; the seed is fixed, and
    half-widths are rounded up. The mean square is that of the formula within 25 %: five standard
    deviations of it for Laplace noise, (5 / 1000)^½ each.
    """
    sql = "SELECT c_mktsegment, count(*) FROM customer GROUP BY ROLLUP (c_mktsegment)"
    prepared = opened(budget).compile(sql)
    truth = {"release_0": np.array([300, 320, 280, 310, 290]), "release_1": np.array([1500])}
    errors: dict[str, list[int]] = {name: [] for name in truth}
    randomness = SeededRandomness("within")
    for _ in range(1000):
        drawn = {}
        for release in prepared.releases:
            step = release.step
            mechanisms = step.measurement.mechanisms
            (noisy,) = noisy_integers(mechanisms, [truth[release.name]], randomness)
            groups = NoisyGroups(
                listed_keys(step.bounded, step.query).ordered, noisy.size, (noisy,)
            )
            drawn[release.name] = columns(step.bounded, groups, step.measurement)
        shown = prepared.consistency.tables(drawn)
        values = {name: table.columns[-1].to_pylist() for name, table in shown.items()}
        assert sum(values["release_0"]) == values["release_1"][0]
        for name, found in values.items():
            errors[name].append(found[0] - int(truth[name][0]))
    for release in prepared.releases:
        (spread,) = prepared.consistency.spreads(release)
        (drawn_with,) = release.step.measurement.mechanisms
        found = np.array(errors[release.name])
        assert isinstance(spread, Combined)
        assert np.mean(np.abs(found) <= spread.width) >= 0.925
        assert abs(np.mean(found**2) / spread.variance - 1) < 0.25
        assert np.mean(found**2) < drawn_with.variance


def test_chosen_keys_and_units_are_left_as_they_are(opened: Open) -> None:
    session = opened(ZCDP)
    answer = session.query(
        "SELECT o_orderstatus, o_clerk, count(*) FROM orders"
        " GROUP BY ROLLUP (o_orderstatus, o_clerk)"
    )
    by_clerk, added, *_ = answer.privacy.notes
    assert "by o_orderstatus, o_clerk: not made to add up, its groups are shown where" in by_clerk
    assert added == "in total; by o_orderstatus: made to add up (dpsql.consistent)"
    answer = session.query(
        "SELECT o_orderstatus, count(*), count(DISTINCT o_custkey), median(o_totalprice)"
        " FROM orders GROUP BY ROLLUP (o_orderstatus)"
    )
    assert answer.privacy.notes[1].endswith("no sums over rows, shown as they were drawn")


@pytest.mark.parametrize(
    ("release", "said"),
    [
        (ReleaseOptions(min_units=3), "groups of few units are left out"),
        (ReleaseOptions(nonnegative=True), "counts below 0 are shown as 0"),
    ],
)
def test_what_leaves_groups_out_or_clips_them_is_said(
    opened: Open, release: ReleaseOptions, said: str
) -> None:
    session = opened()
    session.options = replace(CONSISTENT, release=release)
    assert said in " ".join(session.query(ROLLUP).privacy.notes)


def test_having_and_order_read_what_adds_up(opened: Open) -> None:
    session = opened()
    whole = {row[:2]: row[2:] for row in rows(session.query(CUBE))}
    some = session.query(CUBE + " HAVING count(*) > 2000 ORDER BY n")
    found = list(rows(some))
    assert found
    assert all(whole[row[:2]] == row[2:] for row in found)
    widths = some.half_widths[2]
    assert widths is not None
    assert len(found) < len(whole)


def test_a_total_beside_its_parts_adds_up_however_it_is_written(opened: Open) -> None:
    session = opened()
    answer = session.query(
        "WITH t AS (SELECT count(*) AS n FROM orders)"
        " SELECT o_orderstatus, count(*) AS k, (SELECT n FROM t) AS n FROM orders GROUP BY 1"
    )
    table = answer.table.to_pydict().values()
    _, parts, total = map(list, table)
    assert sum(parts) == total[0]


def test_levels_summed_from_a_stored_answer_are_left_alone(opened: Open) -> None:
    session = opened()
    session.query(
        "SELECT o_orderstatus AS s, o_orderpriority AS p, count(*) AS n FROM orders GROUP BY s, p"
    )
    session.options = QueryOptions(answer=AnswerOptions(reuse=True, consistent=True))
    answer = session.query(
        "SELECT o_orderstatus AS s, count(*) AS n FROM orders GROUP BY ROLLUP (s)", epsilon="0.5"
    )
    assert answer.privacy.summed
    assert "summed from a stored answer" in answer.privacy.notes[0]


def test_an_error_target_holds_for_every_level_and_costs_less_where_they_add_up(
    opened: Open,
) -> None:
    sql = "SELECT c_mktsegment, count(*) AS n FROM customer GROUP BY ROLLUP (c_mktsegment)"
    costs = []
    for consistent in (False, True):
        session = opened(consistent=consistent)
        session.meet(Fraction(20))
        answer = session.query(sql)
        assert max(each_width(answer, 1)) <= 20
        costs.append(answer.privacy.epsilon)
        session.close()
    assert costs[0] > 0


def test_what_was_kept_by_an_older_version_is_shown_as_it_was_drawn(opened: Open) -> None:
    """Its tables have no statistics beside their columns: means stay, counts add up."""
    prepared = opened(consistent=False).compile(CUBE)
    session = opened()
    released = session.session._context.execution.run(
        tuple(r.step for r in prepared.releases), SeededRandomness("older"), {}
    )
    older = {
        name: table.select([n for n in table.column_names if n.startswith("c")])
        for name, table in released.items()
    }
    shown = session.compile(CUBE).consistency.tables(older)
    for name, table in older.items():
        *_, count, total, mean = zip(table.columns, shown[name].columns, strict=True)
        assert total[0] == total[1]
        assert mean[0] == mean[1]
        assert count[0] != count[1] or table.num_rows == 1
