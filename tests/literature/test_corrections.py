"""Ten claims in the texts that dpsql was built from are wrong; here is what holds instead.

Statistical tests state their false-failure probability; the rest are facts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest
from data.database import attached
from literature.data_facts import diamonds
from literature.gaussian import hockey_stick
from mpmath import mp, mpf
from privacy.laws import exact, renyi
from privacy.seeded import SeededRandomness

from dpsql.errors import Error
from dpsql.plan.bounded_release.statistic import RowCount, Sum
from dpsql.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.selection.permute_and_flip import rho_of_pure
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

GOLDEN = Path(__file__).parent.parent.parent / "fixtures" / "founding" / "golden.json"

SCHEMA = """
dataset: {neighbors}
source: {source}
neighbors: {neighbors}
tables:
  people:
    unit: row
    columns:
      x: {{type: integer, bounds: [6, 10], nullable: false}}
      height: {{type: double, nullable: false}}
      part: {{type: varchar, values: [a, b, c], nullable: false}}
  diamonds:
    unit: row
    columns:
      carats: {{type: integer, nullable: false}}
      declared: {{type: integer, values: [1, 2, 3, 4, 5, 6, 7], nullable: false}}
budget: {{epsilon: 60, delta: 1.0e-5, accounting: approx}}
per_query: {{epsilon: 1, delta: 1.0e-6, max_epsilon: 20}}
"""

Open = Callable[..., Session]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three people, and all diamonds by carats, rounded up."""
    file = tmp_path_factory.mktemp("corrections") / "data.duckdb"
    bins = pa.array([math.ceil(carat) for carat in diamonds()["carat"]], pa.int32())
    with attached(file) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT * FROM (VALUES (6, 170.0, 'a'), (10, 181.0, 'a'), "
            "(7, 165.0, 'b')) AS t(x, height, part)"
        )
        connection.register("bins", pa.table({"carats": bins, "declared": bins}))
        connection.execute("CREATE TABLE diamonds AS SELECT * FROM bins")
    return file


@pytest.fixture
def opened(tmp_path: Path, source: Path) -> Open:
    """Opens sessions on them."""

    def open_session(neighbors: str = "add_remove") -> Session:
        file = tmp_path / f"{neighbors}.yaml"
        file.write_text(SCHEMA.format(neighbors=neighbors, source=source))
        return Session(file, randomness=SeededRandomness(neighbors))

    return open_session


def release(session: Session, sql: str, epsilon: Fraction | None = None) -> CompiledRelease:
    (found,) = session.compile(sql, QueryOptions(epsilon)).releases
    return found


def test_a_sum_is_as_sensitive_as_its_largest_value_not_as_the_width_of_its_bounds(
    opened: Open,
) -> None:
    # One more row of 10 changes a sum of values in [6, 10] by 10, not by 4.
    with_it = release(opened(), "SELECT sum(x) FROM people")
    assert with_it.sensitivity.per_group == (10,)
    # A sum around the middle does get by with half the width: in a mean, where a count is there.
    mean = release(opened(), "SELECT avg(x) FROM people")
    assert mean.sensitivity.per_group == (1, 2)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(10)])
def test_gaussian_noise_keeps_its_delta_at_every_epsilon(opened: Open, epsilon: Fraction) -> None:
    # sqrt(2 ln(1.25/δ))/ε breaks its δ at ε = 10, and wastes noise at small ε. So many columns are
    # one vector, for which Gaussian noise is the cheaper, also than noise that is drawn together.
    delta = Fraction(1, 10**6)
    sums = ", ".join(f"sum(x + {number})" for number in range(250))
    made = release(opened("change_one"), f"SELECT {sums} FROM people", epsilon)
    mechanisms = [m for m in made.step.measurement.mechanisms if isinstance(m, DiscreteGaussian)]
    assert len(mechanisms) == len(made.sensitivity.per_group)
    moved = sum(
        Fraction(change) ** 2 / m.variance
        for change, m in zip(made.sensitivity.per_group, mechanisms, strict=True)
    )
    assert hockey_stick(math.sqrt(moved), float(epsilon)) <= float(delta)
    classical = math.sqrt(2 * math.log(1.25 / float(delta))) / float(epsilon)
    broken = hockey_stick(1 / classical, float(epsilon)) > float(delta)
    assert broken == (epsilon == 10)


def test_a_typical_sensitivity_is_never_used(opened: Open) -> None:
    # Heights have no bound, so a sum of them has none; what pairs of people mostly differ by would
    # leave out nearly half of all pairs. The refusal says what to declare.
    with pytest.raises(Error) as refused:
        opened().compile("SELECT sum(height) FROM people")
    assert "bounds" in f"{refused.value} {refused.value.hint}"
    figures = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert figures["height.coverage_of_levels"]["value"][0] < 0.57


@pytest.mark.parametrize("move", [1, 7, 40])
def test_zcdp_holds_for_sums_as_well_as_for_counts(move: int) -> None:
    # D_a <= ρ·a at every order a; with equality, here at 3, since noise and moves are integers.
    mechanism = DiscreteGaussian(Fraction(100))
    reach = range(-230, 190)
    one, other = ([mp.exp(-(mpf(x - at) ** 2) / 200) for x in reach] for at in (0, move))
    laws = [p / sum(one) for p in one], [p / sum(other) for p in other]
    rho = exact(mechanism.rho(l2_squared=move**2))
    order = mpf(3)
    assert abs(renyi(*laws, order) - order * rho) < mpf(10) ** -9


def test_a_renyi_bound_at_one_order_is_not_zcdp() -> None:
    # Randomised response of ε = 3: what is paid for a = 2 isn't enough at a = 1.01.
    p = 1 / (1 + mp.exp(-3))
    laws = [p, 1 - p], [1 - p, p]
    rho = renyi(*laws, mpf(2)) / 2
    assert renyi(*laws, mpf("1.01")) > mpf("1.01") * rho
    enough = exact(rho_of_pure(Fraction(3)))
    assert all(renyi(*laws, mpf(a)) <= mpf(a) * enough for a in ("1.01", "2", "20"))


def test_a_mean_is_a_noisy_sum_over_a_noisy_count(opened: Open) -> None:
    # The quotient of two sensitivities is no sensitivity: 10/1 for a mean that moves by 1.33.
    made = release(opened(), "SELECT avg(x) FROM people")
    terms = [type(statistic.term) for statistic in made.step.bounded.contributions.statistics]
    assert terms == [RowCount, Sum]
    assert len(made.step.measurement.mechanisms) == 2


def test_disjoint_parts_cost_the_largest_only_while_nobody_moves(opened: Open) -> None:
    # A person who leaves part a and enters part b changes both counts.
    sql = "SELECT part, count(*) FROM people GROUP BY part"
    for neighbors, moves in (("add_remove", 1), ("change_one", 2)):
        made = release(opened(neighbors), sql)
        (noise,) = made.step.measurement.mechanisms
        # Each count moves by one at most, which noise of all counts together hides as well.
        assert isinstance(noise, DiscreteLaplace | KNormNoise)
        cost = noise.law.epsilon if isinstance(noise, KNormNoise) else noise.epsilon(l1=moves)
        assert cost <= made.step.measurement.loss.amount == 1


def test_groups_that_only_data_show_are_selected_and_declared_ones_all_appear(
    opened: Open,
) -> None:
    # One diamond has more than five carats, four have nearly five. When bins come from the data,
    # these show with probability 10^-6 or, for four, below 10^-4: false failure. When they are
    # declared, all appear, and empty ones too.
    session = opened()
    found = session.query("SELECT carats, count(*) FROM diamonds GROUP BY carats").table
    shown = set(found.column(0).to_pylist())
    assert {1, 2, 3} <= shown
    assert not {5, 6} & shown
    declared = session.query("SELECT declared, count(*) FROM diamonds GROUP BY declared").table
    assert sorted(declared.column(0).to_pylist()) == [1, 2, 3, 4, 5, 6, 7]


def test_a_count_changes_by_one_and_a_histogram_by_two_when_a_row_is_replaced(
    opened: Open,
) -> None:
    databases = list(product("abc", repeat=3))
    replaced = [
        (one, other)
        for one in databases
        for other in databases
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    ]
    histograms = [[one.count(key) - other.count(key) for key in "abc"] for one, other in replaced]
    assert {len(one) - len(other) for one, other in replaced} == {0}
    assert max(sum(map(abs, moves)) for moves in histograms) == 2
    assert max(math.hypot(*moves) for moves in histograms) == math.sqrt(2)
    # A number of rows that isn't declared gets noise even then, as one of some of the rows does.
    for neighbors, groups in (("add_remove", 1), ("change_one", 2)):
        count = release(opened(neighbors), "SELECT count(*) FROM people")
        assert count.sensitivity.per_group == (1,)
        parts = release(opened(neighbors), "SELECT part, count(*) FROM people GROUP BY part")
        found = parts.sensitivity
        assert found.l1.total(lambda _, change: Fraction(change)) == groups
        assert found.l2.total(lambda _, change: Fraction(change**2)) == groups


def test_both_directions_of_the_neighbour_relation_count(opened: Open) -> None:
    # Removing a row changes a mean more than adding one does, so adding alone finds too little.
    # What is released instead, a sum and a count, changes alike in both directions.
    figures = json.loads(GOLDEN.read_text(encoding="utf-8"))
    mean = figures["empirical.a_absence_days.mean"]["value"]
    assert mean["add_only"][0] < mean["remove_only"][0] == mean["unbounded"][0]
    limits = release(opened(), "SELECT avg(x) FROM people").sensitivity.per_group
    for rows in product(range(6, 11), repeat=3):
        for fewer in (rows[1:], rows[:2], (rows[0], rows[2])):
            moves = len(rows) - len(fewer), sum(rows) - sum(fewer) - 8
            assert all(abs(move) <= limit for move, limit in zip(moves, limits, strict=True))


def test_one_edit_is_one_removal_and_one_addition(opened: Open) -> None:
    # So distances in additions and removals are twice those in edits, and never the reverse.
    assert opened("change_one").schema.neighbor_distance.steps == 2
    assert opened("add_remove").schema.neighbor_distance.steps == 1
