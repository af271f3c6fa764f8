"""What leaves a session has the law that EXPLAIN PRIVACY states, for every aggregate.

One query is answered over many groups of the same 64 rows, each an independent vector release. The
noisy integers are solved for from the answer's columns, by formulas written here anew, and compared
with the law of the declared scale; so are chosen cells with the exact law of the choice. Seeds are
fixed. With another one a test fails falsely with a probability of 10^-6 for each law it compares,
of which there are 37 in all; every law of a scale or a rate 1.1 times as large is rejected.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from neighbor_search.share import values_in_turn
from privacy.laws import exponential_law, fit, permute_and_flip_law
from release.groups import ROWS, Answer, asked, exact
from release.noise_fit import noise_fit

from dpsql.plan.bounded_release.statistic import (
    Discretized,
    DistinctValues,
    NonNullCount,
    Product,
    RowCount,
    Square,
    Statistic,
    Sum,
    UnitCount,
)
from dpsql.plan.expression import Column
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.accounting.pure_conversion import range_of_mu_squared
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.release.exact_answers import NoNoise

ALPHA = 1e-6
EACH = pytest.mark.parametrize("accounting", [Accounting.PURE, Accounting.ZCDP, Accounting.GDP])
# Under GDP a sampler draws Gaussian noise as under zCDP, of another scale.
BY_SAMPLER = pytest.mark.parametrize(
    "accounting",
    [
        Accounting.PURE,
        Accounting.ZCDP,
        pytest.param(Accounting.GDP, marks=pytest.mark.in_turn),
    ],
)
SIZES = pytest.mark.parametrize(
    "groups", [12_000, pytest.param(100_000, marks=pytest.mark.slow)], ids=["some", "many"]
)

COUNTS = """
count(*) AS n, count(z) AS nz, count_if(x > 5) AS above, count(DISTINCT id) AS units,
count(DISTINCT y) AS distinct_y, sum(x) AS sx, avg(x) AS ax
"""
MOMENTS = """
count(*) AS n, avg(x) AS ax, avg(y) AS ay, var_pop(x) AS vx, var_pop(y) AS vy, covar_pop(y, x) AS c
"""
DERIVED = """
var_samp(x) AS vxs, stddev(x) AS dxs, stddev_pop(x) AS dx, covar_samp(y, x) AS cs,
corr(y, x) AS r, regr_slope(y, x) AS slope, regr_intercept(y, x) AS intercept, regr_r2(y, x) AS r2
"""

COVERED = ("sum(x)", "avg(x)", "var_pop(x)", "stddev(y)", "covar_pop(y, x)")
COVERAGE = 0.92
"""Of 1,000 intervals at 95 %: fewer cover in one of 10^5 runs. Of whole numbers, more do."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("groups")


@SIZES
@BY_SAMPLER
def test_counts_sums_and_means_have_the_declared_noise(
    folder: Path, accounting: Accounting, groups: int
) -> None:
    # Noise of counts that is drawn together is mostly 0 at a generous loss.
    epsilon = 5 if accounting is Accounting.PURE else 16
    answer = asked(folder, groups, accounting, epsilon, COUNTS)
    c, true = (
        answer.columns,
        exact(1, "count(z) AS nz, count_if(x > 5) AS a, sum(x - 5) AS t, count(DISTINCT y) AS d"),
    )
    total = whole((c["ax"] - 5) * c["n"])
    assert (c["sx"].astype(float) == total + 5 * c["n"]).all()
    held(answer, {
        "rows": c["n"] - ROWS,
        "present": c["nz"] - int(true["nz"][0]),
        "filtered": c["above"] - int(true["a"][0]),
        "units": c["units"] - ROWS,
        "distinct": c["distinct_y"] - int(true["d"][0]),
        "x": total - int(true["t"][0]),
    })  # fmt: skip


@SIZES
def test_a_generous_loss_under_zcdp_has_the_declared_laplace_noise(
    folder: Path, groups: int
) -> None:
    answer = asked(folder, groups, Accounting.ZCDP, 40, "sum(x) AS sx")
    (mechanism,) = answer.release.step.measurement.mechanisms
    assert isinstance(mechanism, DiscreteLaplace)
    drawn = answer.columns["sx"] - int(exact(1, "sum(x) AS sx")["sx"][0])
    assert noise_fit(drawn, mechanism) > ALPHA
    assert noise_fit(drawn, mechanism, wider=1.1) < ALPHA


@SIZES
@BY_SAMPLER
def test_moments_have_the_declared_noise_in_every_statistic(
    folder: Path, accounting: Accounting, groups: int
) -> None:
    epsilon = 4 if accounting is Accounting.PURE else 24
    answer = asked(folder, groups, accounting, epsilon, MOMENTS)
    c = answer.columns
    n, sx, sy = c["n"], whole((c["ax"] - 5) * c["n"]), whole((c["ay"] - 4) * c["n"])
    squares = {
        name: whole((c[v] + (s / n) ** 2 - far**2) * n)
        for name, v, s, far in (("xx", "vx", sx, 5), ("yy", "vy", sy, 4))
    }
    product = whole((c["c"] + sx / n * sy / n) * n)
    true = exact(
        1,
        "sum(x - 5) AS x, sum(y - 4) AS y, sum((x - 5) * (x - 5) - 25) AS xx,"
        " sum((y - 4) * (y - 4) - 16) AS yy, sum((x - 5) * (y - 4)) AS xy",
    )
    noisy = {"x": sx, "y": sy, **squares, "xy": product}
    held(answer, {"rows": n - ROWS} | {k: v - int(true[k][0]) for k, v in noisy.items()})


@pytest.mark.parametrize(
    "accounting",
    values_in_turn((Accounting.ZCDP, Accounting.PURE, Accounting.GDP), 3),
)
def test_other_functions_of_moments_follow_from_them(folder: Path, accounting: Accounting) -> None:
    c = asked(folder, 100, accounting, 24, f"{MOMENTS}, {DERIVED}").columns
    n, vx, vy, cov = c["n"], c["vx"], c["vy"], c["c"]
    slope = cov / vx
    for name, expected in {
        "vxs": vx * n / (n - 1), "dxs": np.sqrt(vx * n / (n - 1)), "dx": np.sqrt(vx),
        "cs": cov * n / (n - 1), "r": np.clip(cov / np.sqrt(vx * vy), -1, 1), "slope": slope,
        "intercept": c["ay"] - slope * c["ax"], "r2": np.clip(cov**2 / (vx * vy), 0, 1),
    }.items():  # fmt: skip
        assert np.allclose(c[name], expected, rtol=1e-9, atol=1e-9), name


@SIZES
@EACH
@pytest.mark.parametrize(
    ("column", "place"),
    [
        ("median(x)", Fraction(1, 2)),
        ("quantile_cont(x, 0.9)", Fraction(9, 10)),
        pytest.param("quantile_disc(x, 0.25)", Fraction(1, 4), marks=pytest.mark.slow),
        ("min(x)", Fraction(1, 200)),
        pytest.param("max(x)", Fraction(199, 200), marks=pytest.mark.slow),
        ("mode(kind)", None),
    ],
)
def test_choices_have_the_declared_law(
    folder: Path, accounting: Accounting, column: str, place: Fraction | None, groups: int
) -> None:
    # So little that several cells are likely.
    answer = asked(folder, groups, accounting, Fraction(3, 10), f"{column} AS chosen")
    if place is None:
        counts = np.array([3, 2, 1, 2]) * (ROWS // 8)
        losses, reach = [int(max(counts) - n) for n in counts], 1
        chosen = np.array(["abcd".index(kind) for kind in answer.columns["chosen"]])
    else:
        counts = np.array([int((cells() == value).sum()) for value in range(11)])
        a, d = place.numerator, place.denominator
        until = counts.cumsum()
        # A position has d·below - a·n of loss; a cell the least of those between its ends.
        ends = [
            (d * (u - k) - a * ROWS, a * ROWS - d * u) for u, k in zip(until, counts, strict=True)
        ]
        losses, reach = [int(max(0, *end)) for end in ends], 2 * max(a, d - a)
        chosen = answer.columns["chosen"].astype(int)
    granted = Fraction(answer.release.step.measurement.loss.amount)
    if accounting is Accounting.ZCDP:
        # ε²/8 of zCDP for a choice of bounded range.
        rate = Fraction(sqrt(8 * granted)).limit_denominator(10**12) / reach
        law, faster = exponential_law(losses, rate), exponential_law(losses, rate * 11 / 10)
    elif accounting is Accounting.GDP:
        rate = range_of_mu_squared(granted) / reach
        law, faster = exponential_law(losses, rate), exponential_law(losses, rate * 11 / 10)
    else:
        law = permute_and_flip_law(losses, granted / reach)
        faster = permute_and_flip_law(losses, granted / reach * 11 / 10)
    assert fit(chosen, law) > ALPHA
    assert fit(chosen, faster) < ALPHA


@BY_SAMPLER
def test_intervals_cover_as_often_as_they_say(folder: Path, accounting: Accounting) -> None:
    columns = ", ".join(
        f"dp_interval_low({name}) AS low{n}, dp_interval_high({name}) AS high{n}"
        for n, name in enumerate(COVERED)
    )
    found = asked(folder, 1_000, accounting, 24, columns).columns
    true = exact(1, ", ".join(f"{name} AS t{n}" for n, name in enumerate(COVERED)))
    for n, name in enumerate(COVERED):
        value = float(true[f"t{n}"][0])
        low, high = (found[f"{end}{n}"].astype(float) for end in ("low", "high"))
        # Ends are rounded to doubles: one part in 10^9 is no coverage.
        covered = ((low <= value + 1e-9) & (value - 1e-9 <= high)).mean()
        assert covered > COVERAGE, (name, covered)


def held(answer: Answer, noise: dict[str, np.ndarray]) -> None:
    """Each statistic's noise has the law of its declared mechanism, and not of one 1.1 as wide."""
    step = answer.release.step
    named = {name_of(s): n for n, s in enumerate(step.bounded.contributions.statistics)}
    for name, drawn in noise.items():
        # Rows and units may be one statistic where each unit has one row.
        mechanism = step.measurement.mechanisms[named.get(name, named["rows"])]
        assert not isinstance(mechanism, NoNoise)
        assert noise_fit(drawn, mechanism) > ALPHA, name
        assert noise_fit(drawn, mechanism, wider=1.1) < ALPHA, name


def name_of(statistic: Statistic) -> str:
    match statistic.term:
        case RowCount():
            return "rows" if statistic.filter is None else "filtered"
        case NonNullCount():
            return "present"
        case UnitCount():
            return "units"
        case DistinctValues():
            return "distinct"
        case Sum(value=value):
            return column_of(value)
        case Square(value=value):
            return 2 * column_of(value)
        case Product():
            return "xy"
        case other:
            raise TypeError(other)


def column_of(value: Discretized) -> str:
    assert isinstance(value.argument, Column)
    return value.argument.name


def cells() -> np.ndarray:
    i = np.arange(ROWS)
    return (i * i + i // 7) % 11


def whole(values: np.ndarray) -> np.ndarray:
    """The integers that `values` are up to the rounding of doubles."""
    rounded: np.ndarray = np.rint(values)
    assert np.abs(values - rounded).max() < 1e-6
    return rounded.astype(np.int64)
