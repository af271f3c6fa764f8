"""What the noise of a release is, where that of all its statistics may be drawn together."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.errors import InternalError
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.noise_allocation import split_gaussian, split_laplace
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.k_norm import KNorm, KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.release.joint_noise import correlated_choices, noisy_integers, one_direction_choices
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.options import AnswerOptions, QueryOptions
from dpsql.session.session import Session
from dpsql.structs import replace

SCHEMA = """
dataset: shop
source: data.duckdb
neighbors: {neighbors}
units:
  member: {{table: members, key: member_id}}
tables:
  members:
    key: member_id
    unit: member
    columns:
      member_id: {{type: bigint}}
      age: {{type: integer, bounds: [0, 120], nullable: false}}
      a: {{type: boolean}}
      b: {{type: boolean}}
      c: {{type: boolean}}
      d: {{type: boolean}}
      e: {{type: boolean}}
      f: {{type: boolean}}
      city: {{type: varchar}}
  months:
    unit: {{column: member_id, references: members.member_id}}
    limits: {{groups: {groups}, {rows}}}
    columns:
      member_id: {{type: bigint}}
      month: {{type: integer, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], nullable: false}}
      spent: {{type: integer, bounds: [0, 1000], nullable: false}}
budget: {{epsilon: 60, {delta}accounting: {accounting}}}
per_query: {{epsilon: 1, max_epsilon: 60{query_delta}}}
"""

FLAGS = "SELECT " + ", ".join(f"count_if({flag})" for flag in "abcdef") + " FROM members"
MONTHS = "SELECT month, sum(spent) FROM months GROUP BY month"
MEAN = "SELECT avg(age), count(*) FROM members"
DELTA = Fraction(1, 10**6)

Opened = Callable[..., Session]


@pytest.fixture
def opened(tmp_path: Path, request: pytest.FixtureRequest) -> Opened:
    def make(
        accounting: str,
        groups: int = 12,
        neighbors: str = "add_remove",
        rows: str = "rows_per_group: 1",
    ) -> Session:
        with attached(tmp_path / "data.duckdb") as connection:
            flags = ", ".join(f"range % {n + 2} = 0 AS {flag}" for n, flag in enumerate("abcdef"))
            connection.execute(
                "CREATE OR REPLACE TABLE members AS SELECT range AS member_id,"
                f" range % 100 AS age, {flags}, 'x' AS city FROM range(1000)"
            )
            connection.execute(
                "CREATE OR REPLACE TABLE months AS SELECT m.range AS member_id,"
                " n.range + 1 AS month, 500 AS spent FROM range(1000) m, range(12) n"
            )
        path = tmp_path / f"{accounting}.yaml"
        deltas = ("", "") if accounting == "pure" else ("delta: 1.0e-4, ", ", delta: 1.0e-6")
        path.write_text(
            SCHEMA.format(
                accounting=accounting,
                groups=groups,
                rows=rows,
                neighbors=neighbors,
                delta=deltas[0],
                query_delta=deltas[1],
            )
        )
        session = Session(path, epsilon=Fraction(1), randomness=SeededRandomness("joint"))
        request.addfinalizer(session.close)
        return session

    return make


def release_of(session: Session, sql: str) -> CompiledRelease:
    (release,) = session.compile(sql).releases
    return release


def before(release: CompiledRelease) -> float:
    """The deviation of the first statistic with noise for each by itself, at ε = 1 and DELTA."""
    changed = release.sensitivity
    bounds, even = changed.per_group, [1 / move**2 for move in changed.per_group]
    laplace = split_laplace(bounds, even, changed.groups, Fraction(1))
    rho = rho_of_epsilon(Fraction(1), DELTA)
    gaussian = split_gaussian(bounds, even, changed.groups, rho)
    variance = min(float(laplace[0].variance), float(gaussian[0].variance))
    return math.sqrt(variance)


@pytest.mark.parametrize("sql", [FLAGS, MONTHS], ids=["six flags", "twelve months"])
@pytest.mark.parametrize("accounting", ["pure", "approx"])
def test_what_a_unit_may_be_in_everywhere_has_30_percent_less_deviation(
    opened: Opened, accounting: str, sql: str
) -> None:
    release = release_of(opened(accounting), sql)
    noise = release.step.measurement.noise
    assert all(isinstance(mechanism, OneDirectionNoise) for mechanism in noise)
    assert float(noise[0].variance) ** 0.5 < 0.42 * before(release)
    loss = release.step.measurement.loss
    assert loss == PrivacyLoss(loss.accounting, Fraction(1))


@pytest.mark.parametrize("accounting", ["pure", "approx"])
def test_a_mean_has_half_the_squared_error_and_so_has_its_count(
    opened: Opened, accounting: str
) -> None:
    release = release_of(opened(accounting), MEAN)
    shown = [float(m.variance) for m in release.step.measurement.noise]
    changed = release.sensitivity
    split = split_laplace(changed.per_group, [1 / d**2 for d in changed.per_group], 1, Fraction(1))
    for own, former in zip(shown, split, strict=True):
        assert own < 0.53 * float(former.variance)


def test_answers_have_the_error_that_is_told(opened: Opened) -> None:
    """Of 300 answers: five standard deviations of a mean square are 40 %."""
    session = opened("pure")
    release = release_of(session, MONTHS)
    step = release.step
    zeros = [np.zeros(12 * 300, dtype=np.int64)]
    (drawn,) = noisy_integers(step.measurement.mechanisms, zeros, SeededRandomness("told"))
    assert np.mean(drawn.astype(float) ** 2) == pytest.approx(
        float(step.measurement.noise[0].variance), rel=0.4
    )
    answer = session.query(MONTHS)
    width = answer.half_widths[1]
    values = np.array([float(value) for value in answer.table.columns[1].to_pylist()])
    assert isinstance(width, float)
    # All twelve are far off at once: by three times the half-width in less than one of 10^6.
    assert (np.abs(values - 500_000) < 3 * width).all()


def test_who_is_in_one_of_many_groups_has_noise_of_one(opened: Opened) -> None:
    release = release_of(opened("pure", groups=1), MONTHS)
    (noise,) = release.step.measurement.noise
    assert isinstance(noise, DiscreteLaplace)


def test_statistics_of_few_groups_are_drawn_together_in_each(opened: Opened) -> None:
    sql = "SELECT month, count(*), sum(spent) FROM months GROUP BY month"
    release = release_of(opened("pure", groups=2), sql)
    law = release.step.measurement.noise[0]
    assert isinstance(law, KNormNoise)
    assert (law.law.cells, law.law.epsilon) == (1, Fraction(1, 2))
    assert release.step.measurement.loss.amount == 1


LIMITED = "rows_per_group: 4, rows: 6"


@pytest.mark.parametrize("neighbors", ["add_remove", "add_remove\ngroup_size: 2"])
def test_rows_in_all_groups_bound_what_all_their_draws_lose(opened: Opened, neighbors: str) -> None:
    sql = "SELECT month, count(*), sum(spent), var_pop(spent) FROM months GROUP BY month"
    release = release_of(opened("pure", 5, neighbors, LIMITED), sql)
    law = release.step.measurement.noise[0]
    assert isinstance(law, KNormNoise)
    units = release.sensitivity.units
    assert law.law.cells == 1
    assert law.law.moves == release.sensitivity.per_group
    # Two thirds of the loss, but for what rounding takes.
    assert Fraction(3, 5) < law.law.epsilon < Fraction(2, 3)
    random = np.random.default_rng(11)
    whole = [tuple(map(Fraction, row)) for row in ((4, 2, 0, 0, 0), (1, 1, 1, 1, 2))]
    uneven = [(Fraction(1, 1000),) * 3 + (Fraction(1999, 1000), Fraction(3998, 1000))]
    drawn = random.dirichlet([0.5] * 5, 200)
    parts = [tuple(min(Fraction(6 * p), Fraction(4)) for p in row) for row in drawn.tolist()]
    for rows in [*whole, *uneven, *parts]:
        levels = sum(math.ceil(law.law.levels * r / (4 * units)) for r in rows)
        assert units * levels * law.law.epsilon / law.law.levels <= 1


@pytest.mark.parametrize(
    ("shown", "neighbors"),
    [("count(DISTINCT member_id), count(*)", "add_remove"), ("count(*), sum(spent)", "change_one")],
)
def test_rows_in_all_groups_bound_no_draws_of_what_else_is_counted(
    opened: Opened, shown: str, neighbors: str
) -> None:
    sql = f"SELECT month, {shown} FROM months GROUP BY month"
    release = release_of(opened("pure", 5, neighbors, LIMITED), sql)
    for noise in release.step.measurement.noise:
        if isinstance(noise, KNormNoise):
            assert noise.law.cells > 1 or noise.law.epsilon <= Fraction(1, 5)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, count(*), avg(age) FROM members GROUP BY city",
        "SELECT count(*) FROM members",
    ],
)
def test_unlisted_keys_and_single_counts_have_noise_by_themselves(opened: Opened, sql: str) -> None:
    release = release_of(opened("approx"), sql)
    assert not any(isinstance(m, KNormNoise) for m in release.step.measurement.noise)


@pytest.mark.parametrize("accounting", ["pure", "approx", "zcdp", "gdp"])
@pytest.mark.parametrize("shown", ["count(*)", "count(*), sum(spent)"])
def test_where_no_group_is_listed_no_noise_is_drawn_together(
    opened: Opened, accounting: str, shown: str
) -> None:
    session = opened(accounting)
    listed = "(SELECT n FROM (VALUES (1), (2)) v(n) WHERE n > 5) w"
    sql = f"SELECT w.n, {shown} FROM months JOIN {listed} ON month = w.n GROUP BY w.n"
    assert session.query(sql).table.num_rows == 0


@pytest.mark.parametrize(
    ("sql", "less"), [(FLAGS, 0.29), (MONTHS, 0.35)], ids=["six flags", "twelve months"]
)
def test_under_zcdp_gaussian_noise_with_a_shared_part_is_less(
    opened: Opened, sql: str, less: float
) -> None:
    release = release_of(opened("zcdp"), sql)
    noise, changed = release.step.measurement.noise, release.sensitivity
    granted = release.step.measurement.loss
    assert all(isinstance(mechanism, CorrelatedNoise) for mechanism in noise)
    even = [1.0] * len(changed.per_group)
    split = split_gaussian(changed.per_group, even, changed.groups, granted.amount)
    assert math.sqrt(noise[0].variance / split[0].variance) < 1 - less
    assert any("has a part in common" in note for note in release.step.bounded.notes)


@pytest.mark.parametrize(
    "sql",
    [
        MEAN,
        "SELECT sum(n) FROM (SELECT month, count(*) AS n FROM months GROUP BY month)",
        "SELECT month, count(*) FROM months GROUP BY ROLLUP (month)",
        "SELECT month, count(*), rank() OVER (ORDER BY count(*)) FROM months GROUP BY month",
        "SELECT city, count_if(a), count_if(b) FROM members GROUP BY city",
    ],
)
def test_what_is_computed_of_several_values_has_no_shared_part(opened: Opened, sql: str) -> None:
    for release in opened("zcdp").compile(sql).releases:
        noise = release.step.measurement.noise
        assert not any(isinstance(m, CorrelatedNoise | KNormNoise) for m in noise)


@pytest.mark.parametrize("sql", [FLAGS, MONTHS])
def test_replaced_units_have_no_direction(opened: Opened, sql: str) -> None:
    release = release_of(opened("zcdp", neighbors="change_one"), sql)
    costs = [1.0] * len(release.sensitivity.per_group)
    choices = correlated_choices(release.step.bounded, release.sensitivity, costs, Fraction(1, 10))
    assert not list(choices)
    assert not any(isinstance(m, CorrelatedNoise) for m in release.step.measurement.noise)


@pytest.mark.parametrize("units", [1, 2, 3])
def test_several_units_lose_as_the_square_of_their_number(opened: Opened, units: int) -> None:
    release = release_of(opened("zcdp", neighbors=f"add_remove\ngroup_size: {units}"), FLAGS)
    (first, *_) = release.step.measurement.noise
    assert isinstance(first, CorrelatedNoise)
    lost = units**2 * first.law.rho((1,) * 6)
    granted = release.step.measurement.loss.amount
    assert granted * Fraction(999, 1000) <= lost <= granted


@pytest.mark.parametrize("groups", [2, 12])
@pytest.mark.parametrize("units", [1, 2, 3])
def test_several_units_move_levels_by_their_parts(opened: Opened, units: int, groups: int) -> None:
    sql = "SELECT month, count(*), count_if(spent > 9) FROM months GROUP BY month"
    session = opened("pure", groups, f"add_remove\ngroup_size: {units}")
    release = release_of(session, sql)
    (noise, other) = release.step.measurement.noise
    assert isinstance(noise, OneDirectionNoise)
    law = noise.law
    assert law == other.law  # type: ignore[union-attr]
    assert law.levels % units == 0
    assert law.moves == (units, units)
    # Each is added or removed by itself, and moves the levels of one draw, or of one a group.
    draws = 1 if law.cells == 12 else groups
    assert units * draws * Fraction(law.levels, units) * law.epsilon / law.levels == 1


@pytest.mark.parametrize(
    "sql",
    [
        MEAN,
        "SELECT sum(n) FROM (SELECT month, count(*) AS n FROM months GROUP BY month)",
        "SELECT month, count(*), sum(spent - 500) FROM months GROUP BY month",
        "SELECT month, count(*), avg(spent) FROM months GROUP BY month",
    ],
)
def test_only_what_is_shown_and_moves_in_one_direction_has_noise_for_it(
    opened: Opened, sql: str
) -> None:
    release = release_of(opened("pure"), sql)
    assert not any(isinstance(m, OneDirectionNoise) for m in release.step.measurement.noise)


def test_replaced_units_have_no_noise_in_one_direction(opened: Opened) -> None:
    release = release_of(opened("pure", neighbors="change_one"), FLAGS)
    assert not list(one_direction_choices(release.step.bounded, release.sensitivity, Fraction(1)))


def test_a_sum_of_cells_has_the_error_of_what_they_share(opened: Opened) -> None:
    session = opened("zcdp")
    session.query(MONTHS)
    reused = QueryOptions(answer=AnswerOptions(reuse=True))
    answer = session.query("SELECT sum(spent) FROM months", reused)
    assert answer.privacy.loss is None
    release = release_of(session, MONTHS)
    (noise,) = release.step.measurement.noise
    assert isinstance(noise, CorrelatedNoise)
    shared = float(noise.shared_part)
    expected = float(noise.variance) * (12 * (1 - shared) + 144 * shared)
    assert answer.privacy.columns[0].scale == pytest.approx(math.sqrt(expected), rel=0.01)


@pytest.mark.parametrize("sql", [FLAGS, MONTHS, MEAN])
def test_replaced_units_cost_no_more_where_all_is_drawn_together(opened: Opened, sql: str) -> None:
    release = release_of(opened("pure", neighbors="change_one"), sql)
    law = release.step.measurement.noise[0]
    assert isinstance(law, KNormNoise)
    assert law.law.moves == release.sensitivity.per_group
    assert law.law.epsilon == release.step.measurement.loss.amount == 1


def test_a_replaced_pair_is_in_twice_as_many_groups(opened: Opened) -> None:
    sql = "SELECT month, count(*), sum(spent) FROM months GROUP BY month"
    release = release_of(opened("pure", groups=1, neighbors="change_one"), sql)
    law = release.step.measurement.noise[0]
    assert isinstance(law, KNormNoise)
    assert (law.law.cells, law.law.epsilon) == (1, Fraction(1, 2))


def test_explain_names_the_mechanism(opened: Opened) -> None:
    told = opened("pure").explain(FLAGS)
    assert all(
        column.mechanism == "k-norm" for release in told.releases for column in release.noise
    )


def test_noise_that_is_drawn_together_is_not_drawn_apart() -> None:
    law = KNorm(Fraction(1), (1, 1))
    columns = [np.zeros(3, dtype=np.int64)] * 2
    own: list[Noise] = [KNormNoise(law, 0), KNormNoise(law, 1)]
    wrong: list[list[Noise]] = [
        [own[0]],
        [own[1], own[0]],
        [own[0], DiscreteLaplace(Fraction(1))],
        [own[0], KNormNoise(replace(law, levels=2), 1)],
    ]
    for apart in wrong:
        with pytest.raises(InternalError, match="apart"):
            noisy_integers(apart, columns[: len(apart)], SeededRandomness("apart"))
