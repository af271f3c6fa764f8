"""Keys that aren't listed, chosen by weights of their units: √(g/n) of one in n of g groups."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from contextlib import closing
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from data.database import attached
from data.insertion import insert
from neighbor_search.share import in_turn
from privacy.seeded import SeededRandomness

from dpsql.audit.databases.database_batch import Groups
from dpsql.audit.sensitivity.bound_check import violations
from dpsql.bounding.options import AS_DECLARED, ContributionLimits, ReleaseOptions
from dpsql.physical.strategy.per_unit import PerUnit
from dpsql.plan.bounded_release.statistic import RowCount, UnitCount
from dpsql.plan.bounded_release.unit_weight import UnitWeight
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.unit_weight import RESOLUTION, unit_weights
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

SCHEMA = """
dataset: {folder}
source: {source}
units: {{person: {{table: people, key: id}}}}
{neighbors}
tables:
  people: {{key: id, unit: person, columns: {{id: {{type: integer}}}}}}
  orders:
    unit: {{column: person, references: people.id}}
    limits: {{groups: {groups}, rows_per_group: 2}}
    columns:
      person: {{type: integer}}
      shop: {{type: integer}}
      street: {{type: integer, bounds: [0, 3]}}
      gain: {{type: integer, bounds: [-100, 200]}}
budget: {{epsilon: 500, delta: 1e-3, accounting: {accounting}, allow_large_epsilon: true}}
per_query: {{epsilon: 1}}
"""

Order = tuple[int, int]
SUM = "SELECT shop, sum(gain) AS gain FROM orders GROUP BY shop"
KEYS = "SELECT DISTINCT shop FROM orders"
WEIGHTED = ReleaseOptions(weighted_keys=True)


def opened(
    folder: Path,
    orders: Iterable[Order],
    *,
    groups: int = 4,
    accounting: str = "zcdp",
    neighbors: str = "",
) -> Session:
    source = folder / "shop.duckdb"
    with attached(source) as connection:
        connection.execute("CREATE TABLE people (id INTEGER)")
        connection.execute(
            "CREATE TABLE orders (person INTEGER, shop INTEGER, street INTEGER, gain INTEGER)"
        )
        rows = list(orders)
        if rows:
            insert(connection, "orders", [(*row, 1, 7) for row in rows])
            connection.execute("INSERT INTO people SELECT DISTINCT person FROM orders")
    path = folder / "schema.yaml"
    name = "weights" + "".join(filter(str.isalnum, folder.name))
    path.write_text(
        SCHEMA.format(
            folder=name, source=source, groups=groups, accounting=accounting, neighbors=neighbors
        )
    )
    return Session(path, randomness=SeededRandomness("weighted keys"))


def release_of(
    session: Session,
    sql: str = SUM,
    options: ReleaseOptions = WEIGHTED,
    limits: ContributionLimits = AS_DECLARED,
    epsilon: int | None = None,
) -> CompiledRelease:
    asked = None if epsilon is None else Fraction(epsilon)
    (release,) = session.compile(sql, options=QueryOptions(asked, limits, options)).releases
    return release


def weighed(release: CompiledRelease) -> UnitWeight:
    index = release.step.bounded.partition_count_index
    assert index is not None
    term = release.step.bounded.contributions.statistics[index].term
    assert isinstance(term, UnitWeight)
    return term


def integers(release: CompiledRelease, orders: Iterable[Order]) -> Groups:
    """The engine's integers of each shop, over these orders."""
    query, rows = release.step.query, list(orders)
    of_rows = ", ".join(f"({person}, {shop})" for person, shop in rows or [(0, 0)])
    with attached() as connection:
        connection.execute(
            "CREATE TABLE orders AS SELECT person::INTEGER AS person, shop::INTEGER AS shop,"
            f" 1 AS street, 7 AS gain FROM (VALUES {of_rows}) AS t(person, shop) WHERE {bool(rows)}"
        )
        found = connection.execute(query.sql, ["salt"] * query.salted).fetchall()
    return {(row[0],): tuple(map(int, row[1:])) for row in found}


@pytest.mark.parametrize("groups", [1, 2, 3, 12, 64, 65, 1000, 10**6])
def test_all_weights_of_a_unit_have_the_norm_of_as_many_full_ones(groups: int) -> None:
    pairs = unit_weights(groups)
    assert pairs[-1] == (groups, RESOLUTION)
    before = 0
    for most, weight in pairs:
        assert most * weight**2 <= groups * RESOLUTION**2
        assert most * weight <= groups * RESOLUTION
        # Of the fewest groups with this weight, it is little less than the norm allows.
        assert (before + 1) * weight**2 >= 0.96 * groups * RESOLUTION**2
        before = most
    assert len(pairs) <= 600


def test_no_unit_is_in_no_group() -> None:
    with pytest.raises(ValueError, match="one group"):
        unit_weights(0)


def test_a_unit_weighs_more_the_fewer_groups_it_is_in(tmp_path: Path) -> None:
    orders = [(1, 0), (2, 0), (2, 1), *((3, shop) for shop in range(9)), (2, 0), (2, 0), (2, 0)]
    with closing(opened(tmp_path, orders)) as session:
        release = release_of(session)
    found = integers(release, orders)
    # The third is kept in four of nine.
    assert sum(value[1] for value in found.values()) == 2048 + 2 * 1448 + 4 * 1024
    assert found[1,][1] in {1448, 1448 + 1024}
    only = integers(release, [(1, 5)])
    assert only[5,][1] == 2 * RESOLUTION
    assert integers(release, []) == {}


# With little noise the threshold is that of a unit in one group, which weighs the most.
@pytest.mark.parametrize(
    ("epsilon", "sql", "accounting", "groups"),
    in_turn(
        (
            (f"{epsilon}-{name}-{accounting}-{groups}", (epsilon, sql, accounting, groups))
            for epsilon in (1, 60)
            for name, sql in (("sum", SUM), ("keys", KEYS))
            for accounting in ("zcdp", "approx")
            for groups in (2, 40)
        ),
        share=3,
    ),
)
def test_a_unit_in_any_number_of_groups_is_hidden_by_the_threshold(
    epsilon: int, sql: str, accounting: str, groups: int, tmp_path: Path
) -> None:
    with closing(opened(tmp_path, [], groups=groups, accounting=accounting)) as session:
        release = release_of(session, sql, epsilon=epsilon)
    measurement, index = release.step.measurement, release.step.bounded.partition_count_index
    assert index is not None
    assert measurement.threshold is not None
    noise = measurement.noise[index]
    delta = measurement.loss.delta
    if accounting == "approx" and isinstance(noise, DiscreteGaussian):
        delta /= 2  # the other half converts ρ

    def shows(at: int) -> Fraction:
        ways = weighed(release).weights
        return max(1 - (1 - noise.tail(at - weight)) ** most for most, weight in ways)

    assert shows(measurement.threshold) <= delta
    # No threshold that is a hundredth of a unit lower would do.
    assert shows(measurement.threshold - RESOLUTION // 100) > delta


def test_two_units_in_any_groups_are_hidden_by_the_threshold(tmp_path: Path) -> None:
    with closing(opened(tmp_path, [], groups=3, neighbors="group_size: 2")) as session:
        release = release_of(session, epsilon=60)
    measurement, index = release.step.measurement, release.step.bounded.partition_count_index
    assert index is not None
    assert measurement.threshold is not None
    assert release.sensitivity.units == 2
    tail = cache(measurement.noise[index].tail)
    weight = dict(weighed(release).weights)
    shops = [set(s) for n in (1, 2, 3) for s in itertools.combinations(range(6), n)]
    for ours, theirs in itertools.product(shops, repeat=2):
        hidden = Fraction(1)
        for shop in ours | theirs:
            both = (shop in ours) * weight[len(ours)] + (shop in theirs) * weight[len(theirs)]
            hidden *= 1 - tail(measurement.threshold - both)
        assert 1 - hidden <= measurement.loss.delta


@pytest.mark.parametrize("neighbors", ["", "neighbors: change_one", "group_size: 2"])
def test_units_move_weights_by_no_more_than_derived(neighbors: str, tmp_path: Path) -> None:
    with closing(opened(tmp_path, [], groups=4, neighbors=neighbors)) as session:
        release = release_of(session)
    others = [(person, shop) for person in range(10, 14) for shop in range(person - 9)]
    moves = [
        [(1, shop) for shop in range(first, first + number)]
        for first in (0, 3)
        for number in (0, 1, 4, 9)
    ]
    found = cache(lambda rows: integers(release, rows))
    for ours, theirs in itertools.product(moves, repeat=2):
        if not neighbors and ours and theirs:
            continue  # either the one database has the unit, or the other
        before, after = ours, theirs
        if neighbors.startswith("group"):
            before, after = [*ours, *((2, shop) for _, shop in theirs)], []
        first, second = (found((*others, *rows)) for rows in (before, after))
        assert list(violations(first, second, release, release.sensitivity)) == [], (ours, theirs)


def test_replaced_units_fill_twice_as_many_groups(tmp_path: Path) -> None:
    with closing(opened(tmp_path, [], neighbors="neighbors: change_one")) as session:
        release = release_of(session)
    before = integers(release, [(1, shop) for shop in range(4)])
    after = integers(release, [(1, 9)])
    moved = [before.get(k, (0, 0))[1] - after.get(k, (0, 0))[1] for k in {*before, *after}]
    square = release.sensitivity.l2.total(lambda p, c: Fraction(c * c * (p == 1)))
    assert sum(x * x for x in moved) == square == 8 * RESOLUTION**2


COUNT = "SELECT shop, count(*) FROM orders GROUP BY shop"
UNITS = "SELECT shop, count(DISTINCT person) FROM orders GROUP BY shop"
ONE_ROW, ONE_GROUP = ContributionLimits(rows_per_group=1), ContributionLimits(groups=1)


@pytest.mark.parametrize(
    ("sql", "options", "limits", "term"),
    [
        (SUM, ReleaseOptions(), AS_DECLARED, UnitCount),
        (SUM, ReleaseOptions(min_units=3, weighted_keys=True), AS_DECLARED, UnitCount),
        (UNITS, WEIGHTED, AS_DECLARED, UnitCount),
        (SUM, WEIGHTED, ONE_ROW, UnitWeight),
        (COUNT, WEIGHTED, ONE_ROW, RowCount),
        (COUNT, WEIGHTED, AS_DECLARED, UnitWeight),
        (SUM, WEIGHTED, ONE_GROUP, UnitCount),
    ],
)
def test_keys_are_weighed_where_no_number_of_units_is_needed(
    sql: str, options: ReleaseOptions, limits: ContributionLimits, term: type, tmp_path: Path
) -> None:
    with closing(opened(tmp_path, [])) as session:
        release = release_of(session, sql, options, limits)
    index = release.step.bounded.partition_count_index
    assert index is not None
    assert isinstance(release.step.bounded.contributions.statistics[index].term, term)


def test_listed_keys_have_no_weights(tmp_path: Path) -> None:
    with closing(opened(tmp_path, [])) as session:
        sql = "SELECT street, sum(gain) FROM orders GROUP BY street"
        release, plain = (release_of(session, sql, o) for o in (WEIGHTED, ReleaseOptions()))
    assert release.key == plain.key
    assert release.step.measurement.threshold is None


def test_one_strategy_knows_all_groups_of_a_unit(tmp_path: Path) -> None:
    with closing(opened(tmp_path, [])) as session:
        assert [type(c.plan) for c in release_of(session).choice.candidates] == [PerUnit]


def test_values_have_the_noise_that_they_have_without_weights(tmp_path: Path) -> None:
    with closing(opened(tmp_path, [], groups=16)) as session:
        weighted, plain = (release_of(session, SUM, o) for o in (WEIGHTED, ReleaseOptions()))
    ours, theirs = (r.step.measurement.noise for r in (weighted, plain))
    assert ours[0] == theirs[0]
    # Of the weights it is that of a number of units, but for rounding.
    assert isinstance(ours[1], DiscreteGaussian)
    assert isinstance(theirs[1], DiscreteGaussian)
    ratio = float(ours[1].variance) / RESOLUTION**2 / float(theirs[1].variance)
    assert ratio == pytest.approx(1, abs=1e-6)
    assert abs((weighted.threshold_in_units or 0) - (plain.threshold_in_units or 0)) <= 1


def test_more_keys_appear_whose_units_are_in_few_groups(tmp_path: Path) -> None:
    # Of 16 groups a unit in one weighs 4. With ε = 1 keys appear from some 73 units in 16 groups
    # on, of weight 4 from 19 on. 45 are 6 deviations of noise above that: false failure < 1e-7.
    orders = [(1000 * shop + number, shop) for shop in range(10) for number in range(45)]
    with closing(opened(tmp_path, orders, groups=16)) as session:
        options = QueryOptions(Fraction(1), release=WEIGHTED)
        answer = session.query(KEYS, options)
        assert sorted(answer.table.column(0).to_pylist()) == list(range(10))
        units = answer.privacy.thresholds[0]
        assert units > 60
        plain = session.query(KEYS, QueryOptions(Fraction(1)))
        assert plain.table.num_rows < 10


def test_laplace_noise_is_measured_by_the_l1_norm(tmp_path: Path) -> None:
    with closing(opened(tmp_path, [], groups=2, accounting="approx")) as session:
        release = release_of(session, KEYS)
    (noise,) = release.step.measurement.noise
    if isinstance(noise, DiscreteLaplace):
        for most, weight in weighed(release).weights:
            assert most * noise.epsilon(weight) <= release.step.measurement.loss.amount
