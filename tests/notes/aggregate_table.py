"""The table of aggregates, as the compiler says it of one row per unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from neighbor_search.public_rows import public_connection
from notes.compiler import schema_of

from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.plan.bounded_release.cell_selection import (
    CellChoice,
    CountedCells,
    EquidistantCells,
    FrequentCell,
    ListedCells,
    Mode,
    QuantileRanks,
    ThresholdCells,
    ThresholdScores,
    TopCells,
)
from dpsql.plan.bounded_release.estimator import (
    CellCount,
    ChosenValue,
    DividedSum,
    Estimator,
    ExpertChoice,
    LinearEstimator,
    Mean,
    Moments,
    NamedCondition,
    QuantileValue,
    Variance,
    of_drawn,
)
from dpsql.plan.expression import Column, Expression
from dpsql.plan.expression_text import describe_number
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.session.compile.compiled import compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.explain.sensitivity_text import format_statistic
from dpsql.structs import replace


@dataclass(frozen=True)
class Row:
    """Aggregates of one rule; `example` is measured, `names` are what notes have of them."""

    shown: str
    example: str
    note: str
    names: tuple[str, ...]


ROWS = (
    Row("`count(*)`", "count(*)", "count", ("count(*)",)),
    Row("`count(x)`, `regr_count`", "count(age)", "count", ("count(cost)", "regr_count(")),
    Row("`count_if`, `FILTER (WHERE …)`", "count_if(age > 65)", "count", ("count_if(", "FILTER (")),
    Row("`count(DISTINCT unit)`", "count(DISTINCT patient_id)", "count",
        ("count(DISTINCT patient_id)",)),
    Row("`count(DISTINCT x)`, `approx_count_distinct`", "count(DISTINCT age)", "count",
        ("count(DISTINCT doctor_id)", "approx_count_distinct(")),
    Row("`sum`", "sum(age)", "sum", ("sum(",)),
    Row("`avg`, `mean`, `regr_avgx`, `regr_avgy`", "avg(age)", "avg",
        ("avg(", "mean(", "regr_avgx(", "regr_avgy(")),
    Row("`var_pop`, `var_samp`, `variance`, `stddev_pop`, `stddev_samp`, `stddev`", "stddev(age)",
        "spread", ("var_pop(", "var_samp(", "variance(", "stddev_pop(", "stddev_samp(", "stddev(")),
    Row("`covar_pop`, `covar_samp`", "covar_pop(weight, age)", "pair",
        ("covar_pop(", "covar_samp(")),
    Row("`regr_slope`, `regr_intercept`", "regr_slope(weight, age)", "pair",
        ("regr_slope(", "regr_intercept(")),
    Row("`corr`, `regr_r2`", "corr(weight, age)", "pair", ("corr(", "regr_r2(")),
    Row("`median`, `quantile_cont`, `quantile_disc`, `approx_quantile`, "
        "`percentile_… WITHIN GROUP`",
        "median(age)", "quantile", ("median(", "quantile_cont(", "quantile_disc(",
        "approx_quantile(", "percentile_cont(", "percentile_disc(")),
    Row("`min`, `max`, as the 0.5 % and 99.5 % quantiles", "min(age)", "quantile",
        ("min(", "max(")),
    Row("`mode`", "mode(sex)", "quantile", ("mode(",)),
)  # fmt: skip


def table() -> str:
    """The table, in Markdown."""
    head = (
        "| aggregate | measured, and the most that one unit changes | noise: `pure`, `zcdp` | "
        "error that is told | note |\n| --- | --- | --- | --- | --- |\n"
    )
    return head + "".join(f"| {' | '.join(_cells(row))} |\n" for row in ROWS)


def _cells(row: Row) -> Iterator[str]:
    pure, zcdp = (_release(row, accounting) for accounting in (Accounting.PURE, Accounting.ZCDP))
    (output,) = zcdp.step.bounded.outputs
    yield row.shown
    yield "; ".join(_measured(zcdp))
    yield ", ".join(dict.fromkeys(_noise(release) for release in (pure, zcdp)))
    yield _error(output.estimator)
    yield f"[{row.note}](../grammar_notes/aggregate_{row.note}.md)"


def _release(row: Row, accounting: Accounting) -> CompiledRelease:
    schema = schema_of("clinic")
    facts = WorldFacts(schema, public_connection("clinic"), frozenset({"patients"}))
    grant = PrivacyLoss(accounting, Fraction(1))
    sql = f"SELECT {row.example} FROM patients"
    (release,) = compile_sql(sql, schema, facts, grant, "data").releases
    return release


def _measured(release: CompiledRelease) -> Iterator[str]:
    terms = release.step.bounded.contributions
    for statistic, most in zip(terms.statistics, release.sensitivity.per_group, strict=True):
        # Which rows are counted is the same for all, and said of in the notes.
        text = format_statistic(replace(statistic, filter=None))
        yield f"{text}: {describe_number(most * statistic.step)}"
    if any(len(block.corners) > 1 for block in release.sensitivity.l2.statistic_groups):
        yield "in L2 never all at once"
    for selection in terms.cell_choices:
        yield _chosen(selection)


def _chosen(selection: CellChoice) -> str:
    match selection.cells:
        case EquidistantCells(value=value):
            text = f"distance in rank of each {_column(value.argument)}"
        case ListedCells(argument=argument) | ThresholdCells(argument=argument):
            text = f"rows of each {_column(argument)}"
        case missing:
            assert_never(missing)
    match selection.target:
        case QuantileRanks(quantiles=quantiles):
            (place,) = quantiles
            return f"{text}: {describe_number(max(place, 1 - place))}"
        case Mode() | FrequentCell() | TopCells() | CountedCells() | ThresholdScores():
            return f"{text}: 1"
        case other:
            assert_never(other)


def _column(argument: Expression) -> str:
    assert isinstance(argument, Column)
    return argument.name


def _noise(release: CompiledRelease) -> str:
    measurement = release.step.measurement
    made = (*measurement.mechanisms, *measurement.choosers)
    return " and ".join(dict.fromkeys(mechanism.name for mechanism in made))


def _error(formula: Estimator) -> str:
    match of_drawn(formula):
        case LinearEstimator() | DividedSum() | Variance() | CellCount():
            return "the noise's own"
        case Mean():
            return "Fieller's interval"
        case Moments():
            return "by the delta method"
        case QuantileValue() | ChosenValue():
            return "of its rank"
        case ExpertChoice():
            return "a regret"
        case NamedCondition():
            return "of its threshold"
        case missing:
            assert_never(missing)
