"""What noise there is at (1, 10^-6): before, now, and by the best that is known.

`before` is what dpsql computed of the same statements on 2026-11-22, `now` what it computes, and
`best` what a formula of the literature says, of continuous noise. A unit has one row in the table
of units, and one in each of at most so many groups; one is added or removed. No rows are read.

pytest tests/benchmarks/test_mechanism_error.py --update-docs     writes the table
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from benchmarks.planned_error import (
    EIGHT_CHARTS,
    FOUR,
    ONE_AND_TWO_WAY,
    SIX,
    planned_error,
)
from documentation.pages import check_table
from scipy.optimize import brentq
from scipy.stats import norm

from dpsql.bounding.options import ContributionLimits, ReleaseOptions
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.release.selection_mechanism import CountedTopMechanism
from dpsql.report.budget import read_budget
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

FLAGS = range(1, 7)
SCHEMA = """
dataset: {name}
source: {source}
units: {{person: {{table: people, key: id}}}}
tables:
  people:
    key: id
    unit: person
    columns:
      id: {{type: integer, nullable: false}}
      age: {{type: integer, bounds: [0, 120], nullable: false}}
{flags}
  orders:
    unit: {{column: person, references: people.id}}
    limits: {{groups: 100, rows_per_group: 1}}
    columns:
      person: {{type: integer, nullable: false}}
      clerk: {{type: varchar, nullable: false}}
      amount: {{type: integer, bounds: [0, 1], nullable: false}}
      half: {{type: integer, bounds: [1, 2], nullable: false}}
      kind: {{type: integer, bounds: [1, 6], nullable: false}}
      month: {{type: integer, bounds: [1, 12], nullable: false}}
      area: {{type: integer, bounds: [1, 100], nullable: false}}
budget: {{epsilon: {epsilon}, delta: 1.0e-6, accounting: {accounting}}}
per_query: {{epsilon: {query}, max_epsilon: 1{delta}}}
"""
HEAD = (
    "| question | of it | before | now | best known | by |\n"
    "| --- | --- | ---: | ---: | ---: | --- |\n"
)
DELTA = Fraction(1, 10**6)
DECILES = ", ".join(f"quantile_disc(age, 0.{tenth}) AS q{tenth}" for tenth in range(1, 10))
COUNTS = ", ".join(f"count_if(f{flag}) AS n{flag}" for flag in FLAGS)


def opened(folder: Path, accounting: str, epsilon: str = "1", query: str = "1") -> Session:
    name = f"noise_{accounting}_{epsilon}"
    source = folder / f"{name}.duckdb"
    with duckdb.connect(source) as connection:
        flags = "".join(f", f{flag} BOOLEAN NOT NULL" for flag in FLAGS)
        connection.execute(f"CREATE TABLE people (id INT NOT NULL, age INT NOT NULL{flags})")
        groups = "".join(f", {c} INT NOT NULL" for c in ("half", "kind", "month", "area"))
        connection.execute(
            "CREATE TABLE orders (person INT NOT NULL, clerk VARCHAR NOT NULL,"
            f" amount INT NOT NULL{groups})"
        )
    path = folder / f"{name}.yaml"
    delta = ", delta: 1.0e-6" if accounting == "approx" else ""
    columns = "\n".join(f"      f{flag}: {{type: boolean, nullable: false}}" for flag in FLAGS)
    path.write_text(
        SCHEMA.format(
            name=name,
            source=source,
            flags=columns,
            accounting=accounting,
            epsilon=epsilon,
            query=query,
            delta=delta,
        )
    )
    return Session(path)


def release_of(
    session: Session, sql: str, groups: int | None = None, *, weighted: bool = False
) -> CompiledRelease:
    limits, options = ContributionLimits(groups=groups), ReleaseOptions(weighted_keys=weighted)
    asked = QueryOptions(Fraction(1), limits, options)
    (release,) = session.compile(sql, options=asked).releases
    return release


def deviations(release: CompiledRelease) -> list[float]:
    return [math.sqrt(float(m.variance)) for m in release.step.measurement.noise]


def rank_error(session: Session, sql: str) -> float:
    """What EXPLAIN PRIVACY says that ranks are off by, with 95 %."""
    report = session.explain(sql, options=QueryOptions(Fraction(1)))
    return max(c.rank_error or 0.0 for release in report.releases for c in release.noise)


@dataclass(frozen=True)
class Row:
    """Errors of one question; `best` is None where the literature has no figure for it."""

    question: str
    of: str
    before: float
    now: float
    best: float | None
    by: str

    def line(self) -> str:
        best = "" if self.best is None else digits(self.best)
        cells = [self.question, self.of, digits(self.before), digits(self.now), best, self.by]
        return f"| {' | '.join(cells)} |\n"


def digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def best_gaussian(epsilon: float = 1.0, delta: float = float(DELTA)) -> float:
    """The least deviation for an L2 norm of 1 at (ε, δ) (Balle & Wang 2018, theorem 8)."""

    def excess(deviation: float) -> float:
        near, far = 1 / (2 * deviation), epsilon * deviation
        return float(norm.cdf(near - far) - math.exp(epsilon) * norm.cdf(-near - far)) - delta

    return float(brentq(excess, 0.5, 50))


def best_threshold(groups: int) -> float:
    """The least threshold with that noise, proved at one δ together (after Wilkins et al. 2024).

    Of the groups of one unit some are its own alone, and others are known to hold others, too.
    """
    one, delta = best_gaussian(), float(DELTA)
    deviation = one * math.sqrt(groups)

    def loss(known: int, epsilon: float) -> float:
        if not known:
            return max(0.0, 1 - math.exp(epsilon))
        norm_of = math.sqrt(known) / deviation
        near, far = norm_of / 2, epsilon / norm_of
        return float(norm.cdf(near - far) - math.exp(epsilon) * norm.cdf(-near - far))

    def together(threshold: float) -> float:
        shows = float(norm.sf((threshold - 1) / deviation))
        worst = 0.0
        for known in range(groups):  # where all are known, δ is that of the noise
            log = (groups - known) * math.log1p(-shows)
            hidden = math.exp(log)
            worst = max(worst, 1 - hidden + hidden * loss(known, 1 - log), loss(known, 1 + log))
        return worst - delta

    return float(brentq(together, deviation, 20 * deviation))


def best_k_norm(integers: int) -> float:
    """K-norm noise of a sum that a unit moves in one direction, each integer by 1 at most.

    The deviation of each in the least convex body that holds all moves and their opposites, at
    ε = 1: of (d + 1)(d + 2) times (d + 3)/(6(d + 1)).
    """
    return math.sqrt((integers + 2) * (integers + 3) / 6)


def correlated(groups: int) -> float:
    """How much of the deviation is left where Gaussian noise has a shared part (Lebeda 2025)."""
    return (1 + 1 / math.sqrt(groups)) / 2


def worst_mean(count: float, total: float) -> float:
    """The deviation of a mean at an end of its range, times rows, in half-widths of the range."""
    return math.hypot(count, total / 60)


def largest_gap(keys: int) -> float:
    """With 95 %, how far the key of the largest of Laplace counts is from the most frequent one."""
    return float(brentq(lambda t: (keys - 1) * (0.5 + t / 4) * math.exp(-t) - 0.05, 1, 50))


LAPLACE = "geometric noise is optimal (Ghosh et al. 2012)"
MEAN = "[Kulesza et al. 2023](https://arxiv.org/abs/2312.06658)"
SLICES = "a choice a level (Kaplan et al. 2022)"
K_NORM = "K-norm of moves in one direction (Joseph & Yu 2023)"
SHARED = "[Lebeda 2025](https://arxiv.org/abs/2408.06853)"
EXACT = "[Balle & Wang 2018](https://arxiv.org/abs/1805.06530)"
TOGETHER = "the same, at one δ (Wilkins et al. 2024)"
PLANNED = "[Xiao et al. 2023](https://arxiv.org/abs/2305.08175), at its closed form"
FLIP = "permute-and-flip ([McKenna & Sheldon 2020](https://arxiv.org/abs/2010.12603))"
WEIGHED = "the same, with weights (Gopi et al. 2020)"


def approx_rows(session: Session) -> Iterator[Row]:
    """One query at (1, 10^-6)."""
    (count,) = deviations(release_of(session, "SELECT count(*) AS n FROM people"))
    p = math.exp(-1)
    yield Row("count", "deviation", 1.357, count, math.sqrt(2 * p) / (1 - p), LAPLACE)
    mean = worst_mean(*deviations(release_of(session, "SELECT avg(age) AS m FROM people")))
    before = worst_mean(2.799, 169.705)
    yield Row(
        "mean", "deviation × rows ÷ half the range", before, mean, before / math.sqrt(2), MEAN
    )
    both = "SELECT count(*) AS n, sum(age) AS s FROM people"
    of_both = worst_mean(*deviations(release_of(session, both)))
    yield Row(
        "sum beside a count",
        "deviation ÷ half the range",
        worst_mean(2.205, 229.95),
        of_both,
        before / math.sqrt(2),
        MEAN,
    )
    squares = deviations(release_of(session, "SELECT var_pop(age) AS v FROM people"))
    relative = math.hypot(*(d / m for d, m in zip(squares, (1, 60, 3600), strict=True)))
    yield Row(
        "variance",
        "deviation of its three statistics together",
        math.hypot(4.223, 254.558 / 60, 15273.506 / 3600),
        relative,
        None,
        "",
    )
    deciles = rank_error(session, f"SELECT {DECILES} FROM people")
    yield Row("nine deciles", "rank, with 95 %", 641.827, deciles, None, SLICES)
    flags = deviations(release_of(session, f"SELECT {COUNTS} FROM people"))
    yield Row("six flags' counts", "deviation", 8.475, max(flags), best_k_norm(6), K_NORM)
    months = "SELECT month, sum(amount) AS s FROM orders GROUP BY month"
    (month,) = deviations(release_of(session, months))
    yield Row(
        "sums by twelve months", "deviation ÷ largest", 15.696, month, best_k_norm(12), K_NORM
    )
    areas = "SELECT area, count(*) AS n FROM orders GROUP BY area"
    (area,) = deviations(release_of(session, areas))
    best = 10 * best_gaussian() * correlated(100)
    yield Row("counts of 100 groups", "deviation", 45.309, area, best, f"{SHARED}, {EXACT}")
    clerks = release_of(session, "SELECT clerk, count(*) AS n FROM orders GROUP BY clerk", 30)
    (clerk,) = deviations(clerks)
    of_clerk = "count by clerk, 30 groups, not listed"
    best = best_gaussian() * math.sqrt(30)
    yield Row(of_clerk, "deviation", 24.817, clerk, best, EXACT)
    shown = clerks.threshold_in_units or 0
    yield Row(of_clerk, "units, to appear", 136, shown, best_threshold(30), TOGETHER)
    keys = "SELECT DISTINCT clerk FROM orders"
    every = release_of(session, keys, 10).threshold_in_units or 0
    yield Row("clerks, 10 groups", "units, to appear", 156, every, best_threshold(10), TOGETHER)
    alone = release_of(session, keys, 10, weighted=True).step.measurement.threshold or 0
    weight = math.sqrt(10) * 1024
    yield Row(
        "the same, `weighted_keys`",
        "units in one group, to appear",
        156,
        alone / weight,
        best_threshold(10) / math.sqrt(10),
        WEIGHED,
    )
    kinds = "SELECT kind FROM orders GROUP BY kind ORDER BY count(*) DESC LIMIT 1"
    limits = ContributionLimits(groups=1, rows=1)
    report = session.explain(kinds, options=QueryOptions(Fraction(1), limits))
    first = max(c.rank_error or 0.0 for release in report.releases for c in release.noise)
    best = math.log(6 / 0.05)
    yield Row("most frequent of six keys", "rows, with 95 %", largest_gap(6), first, best, FLIP)


def zcdp_rows(session: Session) -> Iterator[Row]:
    """One query that spends a ledger of (1, 10^-6)."""
    one = 1 / math.sqrt(2 * float(rho_of_epsilon(Fraction(1), DELTA / 2)))
    for groups, column in ((2, "half"), (6, "kind"), (12, "month"), (100, "area")):
        sql = f"SELECT {column}, count(*) AS n FROM orders GROUP BY {column}"
        (found,) = deviations(release_of(session, sql))
        before = one * math.sqrt(groups)
        best = before * correlated(groups)
        yield Row(f"zCDP: counts of {groups} groups", "deviation", before, found, best, SHARED)


def top_row(session: Session) -> Row:
    """Three keys of 100 that a unit may be in, with their counts, which were released with all."""
    sql = "SELECT area, count(*) AS n FROM orders GROUP BY area ORDER BY n DESC LIMIT 3"
    (chooser,) = release_of(session, sql).step.measurement.choosers
    assert isinstance(chooser, CountedTopMechanism)
    one = 1 / math.sqrt(2 * float(rho_of_epsilon(Fraction(1), DELTA / 2)))
    now = math.sqrt(float(chooser.noise.variance))
    question = "zCDP: counts of the first 3 of 100 groups"
    return Row(question, "deviation", 10 * one, now, None, "")


def planned_rows() -> Iterator[Row]:
    """Charts of one row for each unit that spend a ledger of (1, 10^-6); before, one by one."""
    rho = rho_of_epsilon(Fraction(1), DELTA / 2)
    for question, shape, charts in (
        ("zCDP: eight charts of four columns", FOUR, EIGHT_CHARTS),
        ("zCDP: six columns, and all pairs of them", SIX, ONE_AND_TWO_WAY),
    ):
        apart, planned, least = planned_error(shape, charts, rho)
        yield Row(question, "deviation of a cell, in the mean", apart, planned, least, PLANNED)


def gdp_row(session: Session) -> Row:
    """One query that spends a ledger of (1, 10^-6); before, under zCDP."""
    (count,) = deviations(release_of(session, "SELECT count(*) AS n FROM people"))
    before = 1 / math.sqrt(2 * float(rho_of_epsilon(Fraction(1), DELTA / 2)))
    return Row("GDP: count", "deviation", before, count, best_gaussian(), EXACT)


def queries_row(session: Session) -> Row:
    """Of the README's ledger: (3, 10^-6), at ε = 0.05 a query."""
    budget = read_budget(session.schema, "analyst", Fraction(1, 20))
    rho, query = (float(rho_of_epsilon(e, DELTA / 2)) for e in (Fraction(3), Fraction(1, 20)))
    question = "zCDP: queries with unlisted keys"
    of = "at ε = 0.05, in (3, 10⁻⁶)"
    paid = float(budget.queries_with_delta_left)
    return Row(question, of, 5, paid, math.floor(rho / query), "as many as ρ is for")


def test_errors_are_those_that_are_told(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with closing(opened(tmp_path, "approx")) as session:
        rows = list(approx_rows(session))
    with closing(opened(tmp_path, "zcdp")) as session:
        rows += [*zcdp_rows(session), top_row(session)]
    eight, six = planned_rows()
    rows += [eight, six]
    with closing(opened(tmp_path, "gdp")) as session:
        rows.append(gdp_row(session))
    with closing(opened(tmp_path, "zcdp", "3", "0.05")) as session:
        rows.append(queries_row(session))
    found = {(row.question, row.of): row for row in rows}
    assert len(found) == len(rows)
    for row in rows[:-1]:
        assert row.now <= row.before * 1.001, row
        # A formula of continuous noise is a little above the same noise on integers.
        assert row.best is None or row.now >= 0.97 * row.best, row
    flags, months = found["six flags' counts", "deviation"], rows[6]
    assert months.question == "sums by twelve months"
    assert max(flags.now / flags.before, months.now / months.before) <= 0.7
    mean = rows[1]
    assert (mean.now / mean.before) ** 2 <= 0.51
    assert rows[-1].now >= 1000
    assert eight.before >= 1.25 * eight.now
    assert six.before >= 1.6 * six.now
    for charts in (eight, six):
        assert charts.best is not None
        assert charts.now <= 1.02 * charts.best
    check_table(request, "mechanism-table", HEAD + "".join(row.line() for row in rows))
