"""DECIDE: which rounds there are, what a choice is made by, what it costs, and that it is stored.

Where experts lie far apart, a choice is another than the best one's with a probability below 10^-6
altogether: after one round the worse expert has lost 40,000 steps of 10 more, at a rate of 0.2 for
10 or more.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.bounding.options import ContributionLimits, ReleaseOptions
from dpsql.errors import BadParameter, BudgetSpent, Error, Refused, SyntaxFault
from dpsql.plan.expression import Literal
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.mechanisms.selection.weighted_majority import LossMoves, WeightedMajority
from dpsql.release.columns.released_table import auxiliary_statistics
from dpsql.schema.sql_type import Integer
from dpsql.session.answer.answer import Answer
from dpsql.session.options import AnswerOptions, PriceOptions, QueryOptions
from dpsql.session.session import Session

SCHEMA = """
dataset: desk
source: {source}
{neighbors}
units:
  trader: {{table: traders, key: trader_id}}
tables:
  traders:
    key: trader_id
    unit: trader
    columns: {{trader_id: {{type: bigint}}}}
  trades:
    unit: {{column: trader_id, references: traders.trader_id}}
    limits: {{groups: 2, rows_per_group: 3}}
    columns:
      trader_id: {{type: bigint}}
      day: {{type: date, bounds: [2024-01-01, 2024-01-05]}}
      a: {{type: double, bounds: [0, 10]}}
      b: {{type: "decimal(4,1)", bounds: [0, 8]}}
budget: {{epsilon: 60, delta: 1.0e-6, accounting: {accounting}}}
per_query: {{epsilon: 1, max_epsilon: 50}}
"""

DECIDE = "DECIDE AMONG a, b FROM trades BY day"
DAYS = [dt.date(2024, 1, day) for day in range(1, 6)]
SUM = 1 + 2 + 2 + 2
"""Days of one trader's before the second to the fifth day: at most 1, 2, 2 and 2."""

SQUARES = 1 + 4 + 4 + 4

Row = tuple[int, str | None, float | None, float | None]
"""Trader, day of the month, and the losses of a and b."""


def opened(
    folder: Path,
    rows: Sequence[Row],
    *,
    accounting: str = "pure",
    neighbors: str = "",
    seed: str = "decide",
) -> Session:
    source = folder / "data.duckdb"
    with attached(source) as connection:
        connection.execute("CREATE TABLE traders AS SELECT range AS trader_id FROM range(10000)")
        columns = list(zip(*rows, strict=True)) or [()] * 4
        types = (pa.int64(), pa.string(), pa.float64(), pa.float64())
        found = pa.table(
            {
                name: pa.array(values, kind)
                for name, values, kind in zip(("t", "d", "a", "b"), columns, types, strict=True)
            }
        )
        connection.register("found", found)
        connection.execute(
            "CREATE TABLE trades AS SELECT t AS trader_id, CAST(d AS DATE) AS day, a,"
            " CAST(b AS DECIMAL(18,1)) AS b FROM found"
        )
    path = folder / "schema.yaml"
    delta = accounting != "pure"
    text = SCHEMA.format(source=source, accounting=accounting, neighbors=neighbors)
    path.write_text(text if delta else text.replace("delta: 1.0e-6, ", ""))
    return Session(path, randomness=SeededRandomness(seed))


def crowd(day: int, a: float | None, b: float | None, size: int = 400) -> list[Row]:
    """Traders of one day, each with one trade of these losses."""
    return [(1_000 * day + n, f"2024-01-0{day}", a, b) for n in range(size)]


def experts(answer: Answer) -> list[object]:
    values: list[object] = answer.table.column(1).to_pylist()
    return values


def spend(epsilon: int | Fraction, **options: object) -> QueryOptions:
    return QueryOptions(epsilon=Fraction(epsilon), **options)  # type: ignore[arg-type]


MUCH = spend(50)


def test_every_listed_round_has_a_row_in_order_whatever_rows_there_are(tmp_path: Path) -> None:
    rows: list[Row] = [(1, None, 5, 0), (2, "2023-12-31", 5, 0), (3, "2024-01-03", 5, 0)]
    session = opened(tmp_path, rows)
    answer = session.query(DECIDE)
    assert answer.names == ("day", "expert")
    assert answer.table.column(0).to_pylist() == DAYS
    assert set(experts(answer)) <= {"a", "b"}
    session.close()


def test_of_an_empty_table_every_round_has_a_choice_too(tmp_path: Path) -> None:
    session = opened(tmp_path, [])
    answer = session.query(DECIDE)
    assert answer.table.column(0).to_pylist() == DAYS
    assert answer.privacy.epsilon == 1
    session.close()


def test_a_choice_is_made_by_the_rounds_before_it_alone(tmp_path: Path) -> None:
    # a is better on the first two days; b makes up for it on the fourth.
    rows = [
        *(crowd(1, 0, 8) + crowd(2, 0, 8)),
        *crowd(3, 5, 5),
        *crowd(4, 10, 0, size=1_000),
        *crowd(5, 0, 8, size=1_000),
    ]
    session = opened(tmp_path, rows)
    assert experts(session.query(DECIDE, MUCH))[1:] == ["a", "a", "a", "b"]
    # Without its last day the first four choices are drawn by the same sums.
    session.close()


def test_the_first_choice_is_uniform_and_reads_nothing(tmp_path: Path) -> None:
    """Of 22 draws all are alike with a probability of 2^-21, 5·10^-7."""
    session = opened(tmp_path, crowd(1, 10, 0))
    first = [
        experts(session.query(f"DECIDE AMONG a, b FROM trades WHERE a >= 0.{n} BY day"))[0]
        for n in range(10, 32)
    ]
    assert set(first) == {"a", "b"}
    session.close()


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf"), 1e300])
def test_a_loss_that_is_missing_or_too_high_counts_as_the_highest(
    tmp_path: Path, missing: float | None
) -> None:
    session = opened(tmp_path, crowd(1, missing, 8))
    assert experts(session.query(DECIDE, MUCH))[1:] == ["b"] * 4
    session.close()


def test_losses_below_their_bounds_are_clamped(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, float("-inf"), -(10**9)) + crowd(2, 0, 1))
    assert experts(session.query(DECIDE, MUCH))[2:] == ["a"] * 3
    session.close()


def test_losses_are_compared_in_their_own_unit(tmp_path: Path) -> None:
    """7.9 of 8 is less than 9 of 10, though nearer to its bound."""
    session = opened(tmp_path, crowd(1, 9, 7.9, size=2_000))
    assert experts(session.query(DECIDE, MUCH))[1:] == ["b"] * 4
    session.close()


def test_one_trader_counts_for_so_many_rows_and_rounds_as_limits_say(tmp_path: Path) -> None:
    # One trader's 50,000 rows are worth three; 400 others lose with b by one each.
    heavy: list[Row] = [(1, "2024-01-01", 10, 0)] * 50_000
    session = opened(tmp_path, heavy + crowd(1, 0, 8))
    assert experts(session.query(DECIDE, MUCH))[1:] == ["a"] * 4
    session.close()


def test_a_decision_asked_again_is_free_however_its_experts_are_called(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4))
    first = session.query(DECIDE)
    assert first.privacy.loss is not None
    again = session.query("decide among a AS x, b AS y from trades by day;")
    assert again.privacy.loss is None
    assert again.privacy.stored
    names = {"a": "x", "b": "y"}
    assert experts(again) == [names[str(each)] for each in experts(first)]
    # The experts in another order are another question, and so is the sum of what they lost.
    assert session.query("DECIDE AMONG b, a FROM trades BY day").privacy.loss is not None
    summed = "SELECT day, sum(a), sum(b) FROM trades GROUP BY day"
    reusing = QueryOptions(answer=AnswerOptions(reuse=True))
    assert session.query(summed, reusing).privacy.loss is not None
    session.close()


def test_a_stored_sum_answers_no_decision_and_a_decision_no_sum(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4))
    fine = "SELECT day, a > 5 AS high, sum(a), sum(b) FROM trades GROUP BY day, high"
    reusing = QueryOptions(answer=AnswerOptions(reuse=True))
    session.query(fine, reusing)
    answer = session.query(DECIDE, reusing)
    assert answer.privacy.loss is not None
    assert answer.privacy.summed == 0
    session.close()


def test_nothing_but_rounds_and_choices_is_stored(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4))
    (release,) = session.compile(DECIDE).releases
    assert auxiliary_statistics(release.step.bounded) == ()
    assert len(release.columns) == 2
    session.close()


def charged(session: Session, options: QueryOptions) -> tuple[PrivacyLoss, WeightedMajority]:
    (release,) = session.compile(DECIDE, options).releases
    answer = session.query(DECIDE, options)
    made = release.step.measurement.table_mechanism
    assert isinstance(made, WeightedMajority)
    assert answer.privacy.loss == release.step.measurement.loss
    assert answer.privacy.loss is not None
    return answer.privacy.loss, made


@pytest.mark.parametrize(
    ("neighbors", "units"),
    [
        ("", 1),
        ("group_size: 3", 3),
        ("neighbors: change_one", 2),
        ("neighbors: change_one\ngroup_size: 3", 6),
    ],
)
def test_units_that_are_replaced_and_groups_of_units_lower_the_rate(
    tmp_path: Path, neighbors: str, units: int
) -> None:
    session = opened(tmp_path, crowd(1, 3, 4), neighbors=neighbors)
    loss, made = charged(session, spend(Fraction(1, 2)))
    assert loss == PrivacyLoss(Accounting.PURE, Fraction(1, 2))
    # Three rows of a day, each up to the whole width.
    assert made.moves == LossMoves(5, 3 * units * made.width, 2 * 3 * units * made.width)
    assert made.learning_rate == Fraction(1, 2) / (3 * units * SUM)
    session.close()


def test_under_zcdp_and_approx_rounds_compose_by_their_bounded_range(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4), accounting="zcdp")
    loss, made = charged(session, spend(Fraction(1, 2)))
    assert loss.amount == made.learning_rate**2 * 9 * SQUARES / 8
    assert loss.amount == pytest.approx(
        float(rho_of_epsilon(Fraction(1, 2), Fraction(1, 2 * 10**6)))
    )
    session.close()


def test_under_approx_few_rounds_spend_no_delta(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4), accounting="approx")
    loss, made = charged(session, spend(Fraction(1, 2)))
    assert loss == PrivacyLoss(Accounting.APPROX, Fraction(1, 2))
    assert made.learning_rate == Fraction(1, 2) / (3 * SUM)
    session.close()


def test_under_approx_many_rounds_are_composed_at_the_querys_delta(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4), accounting="approx")
    sql = "DECIDE AMONG a, b FROM trades BY CAST(a * 30 AS INTEGER)"
    options = spend(Fraction(1, 2))
    (release,) = session.compile(sql, options).releases
    made, loss = release.step.measurement.table_mechanism, release.step.measurement.loss
    assert isinstance(made, WeightedMajority)
    assert made.moves.rounds == 301
    assert made.rho() == 9 * made.learning_rate**2 * (1 + 4 * 299) / 8
    assert Fraction(49, 100) < loss.amount <= Fraction(1, 2) < made.epsilon()
    assert loss.delta > 0
    answer = session.query(sql, options)
    assert answer.privacy.loss == loss
    assert answer.table.num_rows == 301
    spent = session.balance().spent
    assert loss.amount <= spent.amount <= Fraction(1, 2)  # the ledger rounds up
    assert spent.delta >= loss.delta
    session.close()


def test_what_no_rate_needs_is_not_spent(tmp_path: Path) -> None:
    """√(ln 2/5) = 0.372 is the best rate for losses from 0 to 1."""
    session = opened(tmp_path, crowd(1, 3, 4))
    loss, made = charged(session, MUCH)
    assert float(made.learning_rate) == pytest.approx(0.37233, rel=1e-4)
    assert float(loss.amount) == pytest.approx(0.37233 * 3 * SUM, rel=1e-4)
    session.close()


def test_the_price_and_the_regret_are_told_beforehand_for_nothing(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4))
    report = session.explain(DECIDE, MUCH)
    (release,) = report.releases
    notes = "\n".join(release.limits)
    for line in (
        "one of 2 experts is chosen in each of 5 rounds, by those before it",
        "neighbours move two experts' losses apart by 60 at most, in all rounds together",
        "learning rate 0.37233, for losses from 0 to 10",
        "expected regret of a round: 7.44659 at most where rounds have one row",
    ):
        assert line in notes
    assert release.noise[0].regret == pytest.approx(7.44659, rel=1e-5)
    assert session.balance().spent.amount == 0
    session.close()


def test_tighter_limits_let_the_rate_be_higher(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4))
    options = spend(Fraction(1, 2), limits=ContributionLimits(groups=1, rows=1))
    _, made = charged(session, options)
    assert made.moves.in_all == made.width
    session.close()


def test_settings_for_groups_and_totals_change_nothing(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4))
    first = session.query(DECIDE)
    for options in (
        QueryOptions(release=ReleaseOptions(min_units=20, nonnegative=True)),
        QueryOptions(answer=AnswerOptions(consistent=True)),
    ):
        again = session.query(DECIDE, options)
        assert again.table.equals(first.table)
        assert again.privacy.loss is None
    with pytest.raises(Refused, match="isn't known before the answer"):
        session.query(DECIDE, QueryOptions(price=PriceOptions(max_error=Fraction(3))))
    session.close()


def test_what_costs_too_much_is_refused_and_costs_nothing(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4))
    with pytest.raises(Error):
        session.query(DECIDE, spend(1, price=PriceOptions(max_cost=Fraction(1, 2))))
    assert session.balance().spent.amount == 0
    session.query("DECIDE AMONG a, b, 1 AS c FROM trades BY day", MUCH)
    session.query("SELECT count(*) FROM trades", MUCH)
    with pytest.raises(BudgetSpent):
        session.query("DECIDE AMONG a, b, 2 AS c FROM trades BY day", MUCH)
    session.close()


def test_parameters_stand_anywhere_and_errors_are_where_they_stand(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4))
    sql = "DECIDE AMONG a, b + ? AS c FROM trades WHERE a < ? BY day + ?"
    values = {str(n): Literal(n, Integer(32)) for n in (1, 2, 3)}
    answer = session.query(sql, parameters=values)
    assert answer.table.num_rows == 5
    for wrong, at in (
        ("DECIDE AMONG a, b + ? AS c FROM trades WHERE d < ? BY day + ?", "d"),
        ("DECIDE AMONG a, b + ? AS c FROM trades WHERE a < ? BY dy + ?", "dy"),
        ("  /* by */ DECIDE AMONG a, e FROM trades BY day", "e"),
    ):
        with pytest.raises(Error) as refused:
            session.query(wrong, parameters=values if "?" in wrong else {})
        assert refused.value.at is not None
        assert wrong[refused.value.at.start : refused.value.at.end] == at
    with pytest.raises(BadParameter):
        session.query(DECIDE, parameters={"1": Literal(2, Integer(32))})
    session.close()


@pytest.mark.parametrize(
    "by",
    [
        "BY ALL",
        "BY ROLLUP (day)",
        "BY GROUPING SETS ((day))",
        "BY ()",
        "BY (day, a)",
        "BY *",
        "BY 1",
        "BY",
        "BY day BY a",
        "BY day ORDER BY day",
        "BY day OFFSET 1",
        "BY day HAVING true",
        "BY day UNION SELECT 1, 2",
        "GROUP BY day",
        "",
    ],
)
def test_a_decision_is_by_one_expression_and_nothing_follows(tmp_path: Path, by: str) -> None:
    session = opened(tmp_path, [])
    with pytest.raises(SyntaxFault):
        session.query(f"DECIDE AMONG a, b FROM trades {by}")
    assert session.balance().spent.amount == 0
    session.close()


def test_by_in_texts_names_and_parentheses_is_none_of_the_statements(tmp_path: Path) -> None:
    session = opened(tmp_path, [])
    rows = "SELECT trader_id, day, max(a) AS a, max(b) AS b FROM trades GROUP BY trader_id, day"
    for sql in (
        "DECIDE AMONG a AS \"by\", b FROM trades WHERE 'by' = 'by' BY day",
        f"DECIDE AMONG a, b FROM ({rows}) t /* by */ BY -- a comment\n day",
    ):
        assert session.query(sql).table.num_rows == 5
    session.close()


def test_experts_are_called_anything(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 0, 8))
    sql = """DECIDE AMONG a AS "it's; a", b AS "round" FROM trades BY day"""
    assert experts(session.query(sql, MUCH))[1:] == ["it's; a"] * 4
    session.close()


def test_decisions_of_a_batch_are_charged_at_their_own_loss(tmp_path: Path) -> None:
    session = opened(tmp_path, crowd(1, 3, 4), accounting="approx")
    both = session.batch([DECIDE, "SELECT count(*) FROM trades"], spend(Fraction(1, 2)))
    assert both.loss is not None
    assert Fraction(1, 2) <= both.loss.amount <= 1
    assert [answer.table.num_rows for answer in both.answers] == [5, 1]
    session.close()
