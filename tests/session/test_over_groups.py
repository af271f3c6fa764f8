"""Units in more groups than limits let them be in: in some of these, or less in all."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from data.insertion import insert
from privacy.seeded import SeededRandomness

from dpsql.analysis.sensitivity import sensitivity
from dpsql.audit.databases.database_batch import Groups
from dpsql.audit.sensitivity.bound_check import violations
from dpsql.bounding.options import ContributionLimits
from dpsql.errors import SchemaFault
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    ByNorm,
    ByRank,
    LimitGroups,
    integer_parts,
)
from dpsql.plan.bounded_release.statistic import CappedSum
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import JointNoise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.over_groups import OverGroups
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.load.load import load_schema
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.options import DEFAULT_OPTIONS, QueryOptions
from dpsql.session.session import Session
from dpsql.structs import replace

SCHEMA = """
dataset: shop
source: {source}
units: {{person: {{table: people, key: id}}}}
tables:
  people: {{key: id, unit: person, columns: {{id: {{type: integer}}}}}}
  orders:
    unit: {{column: person, references: people.id}}
    limits: {{{limits}}}
    columns:
      person: {{type: integer}}
      shop: {{type: integer, bounds: [0, 19]}}
      gain: {{type: integer, bounds: [-100, 200]}}
budget: {{epsilon: 500, delta: {delta}, accounting: {accounting}, allow_large_epsilon: true}}
per_query: {{epsilon: 120}}
"""

Order = tuple[int, int, int]
COUNT = "SELECT shop, count(*) AS n, sum(gain) AS gain FROM orders GROUP BY shop"
SUM = "SELECT shop, sum(gain) AS gain FROM orders GROUP BY shop"
SCALE = QueryOptions(limits=ContributionLimits(over_groups=OverGroups.SCALE))
SAMPLE = QueryOptions(limits=ContributionLimits(over_groups=OverGroups.SAMPLE))


def opened(
    folder: Path,
    orders: Iterable[Order],
    limits: str = "groups: 4, rows_per_group: 1, over_groups: scale",
    accounting: str = "zcdp",
) -> Session:
    source = folder / "shop.duckdb"
    source.unlink(missing_ok=True)
    with attached(source) as connection:
        connection.execute("CREATE TABLE people (id INTEGER)")
        connection.execute("CREATE TABLE orders (person INTEGER, shop INTEGER, gain INTEGER)")
        rows = list(orders)
        if rows:
            insert(connection, "orders", rows)
            connection.execute("INSERT INTO people SELECT DISTINCT person FROM orders")
    path = folder / "schema.yaml"
    delta = 0 if accounting == "pure" else "1e-3"
    path.write_text(SCHEMA.format(source=source, limits=limits, accounting=accounting, delta=delta))
    return Session(path, randomness=SeededRandomness("over groups"))


def release_of(
    session: Session, sql: str = COUNT, options: QueryOptions = DEFAULT_OPTIONS
) -> CompiledRelease:
    (release,) = session.compile(sql, options=options).releases
    return release


def limit_of(release: CompiledRelease) -> object:
    limited = release.step.bounded.limited
    assert isinstance(limited, LimitGroups)
    return limited.limit


def integers(folder: Path, release: CompiledRelease) -> dict[int, tuple[int, ...]]:
    """The engine's integers of each shop."""
    query, copied = release.step.query, folder / "copied.duckdb"
    shutil.copy(folder / "shop.duckdb", copied)  # the session holds the other one
    with attached(copied) as connection:
        for domain in query.domains:
            connection.execute(
                f'CREATE TEMP TABLE "{domain.name}" AS SELECT i AS cell, i::INTEGER AS k0'
                " FROM range(20) AS r(i) UNION ALL SELECT 20, NULL"
            )
        rows = connection.execute(query.sql, ["salt"] * query.salted).fetchall()
    return {row[0]: tuple(map(int, row[1:])) for row in rows}


@pytest.fixture
def shops(tmp_path: Path) -> Iterator[Session]:
    """One person with an order at each of nine shops, another at two."""
    orders = [*((1, shop, 10) for shop in range(9)), (2, 0, 200), (2, 1, -100)]
    with closing(opened(tmp_path, orders)) as session:
        yield session


def test_a_unit_counts_less_in_all_of_its_groups(shops: Session, tmp_path: Path) -> None:
    release = release_of(shops)
    limit = limit_of(release)
    assert limit == ByNorm(4, 21, 1024, 2)
    # Of nine groups with limits for four, each counts for √(4/9) or little less, downwards.
    weight = next(k for most, k in limit.weights(1) if most >= 9)
    assert 0.97 * 1024 * 2 / 3 < weight <= 1024 * 2 / 3
    middle = release.step.bounded.contributions.statistics[1].term.value.center  # type: ignore[union-attr]
    found = integers(tmp_path, release)
    assert found[5] == (weight, weight * (10 - middle))
    assert found[0] == (weight + 1024, weight * (10 - middle) + 1024 * (200 - middle))
    assert found[1] == (weight + 1024, weight * (10 - middle) + 1024 * (-100 - middle))


def test_answers_are_of_whole_rows(shops: Session) -> None:
    # ε = 120 is ρ of some 90: noise is below 3 but with a probability of 10^-9.
    table = shops.query(COUNT).table
    counts = dict(zip(*(table.column(index).to_pylist() for index in (0, 1)), strict=True))
    assert counts[0] == pytest.approx(5 / 3, abs=4)
    assert counts[19] == pytest.approx(0, abs=4)


def test_noise_is_that_of_as_many_groups_drawn(shops: Session) -> None:
    options = replace(SCALE, epsilon=Fraction(1))
    # What is summed of several groups has no noise with a shared part.
    sql = f"SELECT sum(n), sum(gain) FROM ({COUNT})"
    scaled = release_of(shops, sql, options)
    drawn = release_of(shops, sql, replace(options, limits=SAMPLE.limits))
    assert limit_of(drawn) == ByRank(4, 127)
    assert scaled.step.measurement.loss == drawn.step.measurement.loss
    for noise, other in zip(
        scaled.step.measurement.mechanisms, drawn.step.measurement.mechanisms, strict=True
    ):
        assert isinstance(other, DiscreteGaussian)
        assert noise == RoundedNoise(DiscreteGaussian(1024**2 * other.variance), 1024)


@pytest.mark.parametrize("accounting", ["pure", "zcdp", "approx", "gdp"])
def test_parts_have_noise_for_each_statistic_by_itself(tmp_path: Path, accounting: str) -> None:
    """Noise that is drawn together is measured for moves of integers: of parts it hides none."""
    limits = "groups: 19, rows_per_group: 1, over_groups: scale"
    with closing(opened(tmp_path, [(1, 2, 3)], limits, accounting)) as session:
        options = replace(SCALE, epsilon=Fraction(1))
        for sql in (COUNT, SUM, "SELECT shop, count(*) FROM orders GROUP BY shop"):
            scaled = release_of(session, sql, options)
            drawn = release_of(session, sql, replace(options, limits=SAMPLE.limits))
            assert isinstance(limit_of(scaled), ByNorm)
            assert all(isinstance(m, RoundedNoise) for m in scaled.step.measurement.mechanisms)
            assert any(isinstance(m, JointNoise) for m in drawn.step.measurement.mechanisms)


@pytest.mark.parametrize("order", [1, 2])
def test_sums_with_a_cap_are_drawn(tmp_path: Path, order: int) -> None:
    """One row reaches the cap in each of 20 groups, whose norm is that of two groups of ten rows.

    None of them would be scaled by it, so that no bound by it would hold.
    """
    limits = "groups: 2, rows_per_group: 10"
    asked = ContributionLimits(over_groups=OverGroups.SCALE, norm_order=order)
    capped = replace(asked, unit_sum=Fraction(200))
    found = []
    for rows in ([(2, 3, 4)], [(2, 3, 4), *((1, shop, 200) for shop in range(20))]):
        with closing(opened(tmp_path, rows, limits)) as session:
            uncapped = release_of(session, SUM, QueryOptions(limits=asked))
            assert isinstance(limit_of(uncapped), ByNorm)
            release = release_of(session, SUM, QueryOptions(limits=capped))
            assert isinstance(limit_of(release), ByRank)
            (statistic,) = release.step.bounded.contributions.statistics
            assert isinstance(statistic.term, CappedSum)
            found.append(integers(tmp_path, release))
    before, after = found
    moved = [after.get(shop, (0,))[0] - before.get(shop, (0,))[0] for shop in range(20)]
    assert sorted(moved) == [0] * 18 + [200] * 2
    fewer, more = (Groups({(shop,): row for shop, row in each.items()}) for each in found)
    assert not list(violations(fewer, more, release, release.sensitivity))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("is_replacement", [False, True])
def test_a_norm_of_rows_would_bound_a_sum_with_a_cap_by_all_groups(
    tmp_path: Path, order: int, *, is_replacement: bool
) -> None:
    """Whoever let caps be scaled would have to add noise for the cap in each group there is."""
    with closing(opened(tmp_path, [(1, 2, 3)], "groups: 2, rows_per_group: 10")) as session:
        limits = ContributionLimits(unit_sum=Fraction(200))
        bounded = release_of(session, SUM, QueryOptions(limits=limits)).step.bounded
    assert isinstance(bounded.limited, LimitGroups)
    norm = ByNorm(2, 21, 1024, order)
    scaled = replace(bounded, limited=replace(bounded.limited, limit=norm))
    bound = sensitivity(scaled, NeighborDistance(1 + is_replacement, is_replacement=is_replacement))
    assert bound.l1.total(lambda _, c: Fraction(c)) >= 21 * 200 * (1 + is_replacement)
    assert bound.l2.total(lambda _, c: Fraction(c * c)) >= 21 * 200**2 * (1 + is_replacement)


def test_no_sum_has_laplace_noise_that_few_large_moves_would_lose_less_by(shops: Session) -> None:
    drawn = release_of(shops, SUM, replace(SAMPLE, epsilon=Fraction(120)))
    scaled = release_of(shops, SUM, replace(SCALE, epsilon=Fraction(120)))
    (noise,), (other,) = drawn.step.measurement.mechanisms, scaled.step.measurement.mechanisms
    assert isinstance(noise, DiscreteLaplace)
    assert isinstance(other, RoundedNoise)
    assert isinstance(other.fine, DiscreteGaussian)


@pytest.mark.parametrize("order", [1, 2])
def test_weights_never_pass_the_norm_and_miss_it_by_a_64th(order: int) -> None:
    some = [(1, 2, 1), (3, 300, 1), (2, 10**5, 5), (1000, 1001, 7), (1, 10**6, 1)]
    for groups, cells, rows in some:
        limit = ByNorm(groups, cells, 1024, order)
        allowed = groups * rows**order
        pairs = limit.weights(rows)
        assert [s for s, _ in pairs] == sorted({s for s, _ in pairs})
        before = allowed
        for powers, weight in pairs:
            # All sums of powers up to this one have the weight, which is enough for the largest.
            assert weight**order * powers <= 1024**order * allowed
            assert (weight + 1) ** order * powers > 1024**order * allowed
            best = 1024 * (allowed / (before + 1)) ** (1 / order)
            assert weight >= best * 63 / 64 - 2
            before = powers
        assert pairs[-1][0] >= cells * rows**order or pairs[-1][1] == 1


@pytest.mark.parametrize(
    ("accounting", "order"), [("zcdp", 2), ("gdp", 2), ("approx", 2), ("pure", 1)]
)
def test_a_norm_is_that_by_which_noise_is_measured(
    tmp_path: Path, accounting: str, order: int
) -> None:
    with closing(opened(tmp_path, [(1, 2, 3)], accounting=accounting)) as session:
        assert limit_of(release_of(session, SUM)) == ByNorm(4, 21, 1024, order)


def test_pure_noise_is_that_of_as_many_groups_and_hides_no_less(tmp_path: Path) -> None:
    """Of two rows at one shop and one at each of six, three fit the limits: a part of 6/8."""
    orders = [(1, 0, 10), *((1, shop, 10) for shop in range(7))]
    limits = "groups: 3, rows_per_group: 2, over_groups: scale"
    with closing(opened(tmp_path, orders, limits, "pure")) as session:
        options = replace(SCALE, epsilon=Fraction(1))
        sql = "SELECT shop, count(*) FROM orders GROUP BY shop"
        release = release_of(session, sql, options)
        drawn = release_of(session, sql, replace(options, limits=SAMPLE.limits))
        (noise,), (other,) = (r.step.measurement.mechanisms for r in (release, drawn))
        assert isinstance(other, DiscreteLaplace)
        assert noise == RoundedNoise(DiscreteLaplace(1024 * other.scale), 1024)
        found = integers(tmp_path, release)
        weight = found[1][0]
        assert 0.97 * 1024 * 6 / 8 < weight <= 1024 * 6 / 8
        assert [found[shop][0] for shop in (0, 6)] == [2 * weight, weight]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT shop, count(DISTINCT person) FROM orders GROUP BY shop",
        "SELECT shop, count(DISTINCT gain), count(*) FROM orders GROUP BY shop",
        "SELECT shop, median(gain), count(*) FROM orders GROUP BY shop",
        "SELECT shop, dp_over_limit(count(*)) FROM orders GROUP BY shop",
        "SELECT gain, shop, count(*) FROM orders GROUP BY gain + 0.5 * shop, gain, shop",
    ],
)
def test_what_has_no_parts_is_drawn(tmp_path: Path, sql: str) -> None:
    limits = "groups: 4, rows_per_group: 3, over_groups: scale"
    with closing(opened(tmp_path, [(1, 2, 3)], limits)) as session:
        assert isinstance(limit_of(release_of(session, sql)), ByHash | ByRank)


def test_an_analyst_chooses_for_a_statement_what_the_owner_did_for_a_table(tmp_path: Path) -> None:
    limits = "groups: 4, rows_per_group: 1"
    with closing(opened(tmp_path, [(1, 2, 3)], limits)) as session:
        assert isinstance(limit_of(release_of(session)), ByRank)
        assert isinstance(limit_of(release_of(session, options=SCALE)), ByNorm)


def test_rows_in_all_groups_are_as_many_as_fill_some(tmp_path: Path) -> None:
    limits = "groups: 4, rows_per_group: 3, rows: 7, over_groups: scale"
    with closing(opened(tmp_path, [(1, 2, 3)], limits)) as session:
        release = release_of(session)
        assert limit_of(release) == ByNorm(3, 21, 1024, 2)
        assert "more than fills 3 groups" in " ".join(release.step.bounded.notes)


UNLISTED = (
    "SELECT gain, shop, gain + 0.5 * shop AS both, count(*) AS n FROM orders GROUP BY 1, 2, 3"
)


def test_unlisted_keys_are_of_drawn_groups_that_have_the_norm_with_a_row_in_each(
    tmp_path: Path,
) -> None:
    orders = [*((1, shop, 0) for shop in range(12)), *((2, shop, 0) for shop in (1, 1, 2, 2, 3, 3))]
    limits = "groups: 2, rows_per_group: 2, over_groups: scale"
    with closing(opened(tmp_path, orders, limits)) as session:
        release = release_of(session, UNLISTED)
        assert limit_of(release) == ByNorm(2, 8, 1024, 2)
        found = [integers for (integers,) in integers_by_key(tmp_path, release).values()]
        of_each = [integers_by_key(tmp_path, release, person) for person in (1, 2)]
    # Eight of twelve groups have whole rows, with the squares of two groups of two; of three groups
    # of two rows each counts for √(2/3) of them, or little less, downwards.
    assert sorted(n for (n,) in of_each[0].values()) == [1024] * 8
    assert all(0.97 * 2048 < n * 1.5**0.5 <= 2048 for (n,) in of_each[1].values())
    assert sum(found) == sum(n for each in of_each for (n,) in each.values())


def test_unlisted_keys_appear_where_no_unit_alone_shows_one(tmp_path: Path) -> None:
    limits = "groups: 2, rows_per_group: 2, over_groups: scale"
    with closing(opened(tmp_path, [(1, 2, 3)], limits)) as session:
        release = release_of(session, UNLISTED, QueryOptions(Fraction(1)))
        (noise,) = release.step.measurement.mechanisms
        assert isinstance(noise, RoundedNoise)
        delta = release.step.measurement.loss.delta
        threshold = release.step.measurement.threshold
        assert threshold is not None
        # Of eight groups that one person alone has with two rows none appears but with δ.
        assert 1 - (1 - noise.tail(threshold - 2)) ** 8 <= delta
        assert 1 - (1 - noise.tail(threshold - 3)) ** 8 > delta


def integers_by_key(
    folder: Path, release: CompiledRelease, person: int | None = None
) -> dict[object, tuple[int, ...]]:
    """The engine's integers of each key, of one person or all."""
    copied = folder / f"copied {person}.duckdb"
    shutil.copy(folder / "shop.duckdb", copied)
    with attached(copied) as connection:
        if person is not None:
            connection.execute("DELETE FROM orders WHERE person <> ?", [person])
        for domain in release.step.query.domains:
            connection.register(domain.name, domain_table(domain))
        rows = connection.execute(release.step.query.sql, ["salt"]).fetchall()
    return {tuple(key): (int(number),) for *key, number in rows}


def test_either_way_is_the_owners_choice_at_any_time(tmp_path: Path) -> None:
    opened(tmp_path, []).close()
    path = tmp_path / "schema.yaml"
    scaled = load_schema(path).policy
    path.write_text(path.read_text().replace("over_groups: scale", "over_groups: sample"))
    drawn = load_schema(path).policy
    assert not [*policy_relaxations(scaled, drawn), *policy_relaxations(drawn, scaled)]


def test_another_word_is_a_fault_of_the_schema(tmp_path: Path) -> None:
    with pytest.raises(SchemaFault, match="over_groups"):
        opened(tmp_path, [], "groups: 4, over_groups: truncate")


def test_nobody_fails_a_statement(tmp_path: Path) -> None:
    limits = "groups: 1, rows_per_group: 10, over_groups: scale"
    many = [(1, shop, gain) for shop in range(20) for gain in (2**31 - 1, -(2**31)) * 10]
    nothing = [(2, None, None), (3, None, 5), (None, 4, 5)]
    with closing(opened(tmp_path, [*many, *nothing], limits)) as session:  # type: ignore[list-item]
        table = session.query(
            "SELECT shop, count(*), sum(gain), avg(gain) FROM orders GROUP BY shop"
        )
        assert table.table.num_rows == 21
    with closing(opened(tmp_path, [], limits)) as session:
        assert session.query(COUNT).table.num_rows == 21


def test_replaced_units_that_differ_most_where_neither_fills_a_group(tmp_path: Path) -> None:
    """Of [-100, 200], twice as many rows of one end as of the other, in turn."""
    limits = "groups: 5, rows_per_group: 2, over_groups: scale"

    def orders(person: int, first: int) -> Iterator[Order]:
        for shop in range(8):
            many = shop % 2 == first
            yield from [(person, shop, 200 if many else -100)] * (2 if many else 1)

    found = []
    for first in (0, 1):
        with closing(opened(tmp_path, orders(first, first), limits)) as session:
            release = release_of(session, SUM)
            found.append(integers(tmp_path, release))
    parts = integer_parts(release.step.bounded.limited)
    change = sum((found[0][shop][0] - found[1][shop][0]) ** 2 for shop in range(8))
    bound = sensitivity(release.step.bounded, NeighborDistance(1, is_replacement=True))
    total = bound.l2.total(lambda _, c: Fraction(c * c))
    # Each unit's squares add up to 8 · (4 + 1) / 2 = 20, all that is allowed: nothing is scaled.
    assert change == parts**2 * 8 * 500**2
    assert change <= parts**2 * total
    assert change >= parts**2 * total * Fraction(99, 100)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("limits", ["groups: 2, rows_per_group: 1", "groups: 3, rows_per_group: 2"])
def test_a_unit_in_all_groups_changes_no_more_than_derived(
    tmp_path: Path, limits: str, order: int
) -> None:
    """What limits allow is all but used up, in the norm that is scaled to."""
    own = ContributionLimits(over_groups=OverGroups.SCALE, norm_order=order)
    orders = [(1, shop, 200) for shop in range(20) for _ in range(2)]
    found = []
    for rows in ([(2, 3, 4)], [(2, 3, 4), *orders]):
        with closing(opened(tmp_path, rows, limits)) as session:
            release = release_of(session, COUNT, QueryOptions(limits=own))
            found.append(integers(tmp_path, release))
    parts, bounds = integer_parts(release.step.bounded.limited), release.sensitivity
    before, after = (Groups({(shop,): row for shop, row in each.items()}) for each in found)
    assert not list(violations(before, after, release, bounds))
    norm = bounds.l1 if order == 1 else bounds.l2
    moved = sum((found[1][shop][0] - found[0].get(shop, (0, 0))[0]) ** order for shop in range(20))
    bound = parts**order * norm.total(lambda p, c: Fraction(c**order * (p == 0)))
    assert bound * Fraction(95, 100) <= moved <= bound
