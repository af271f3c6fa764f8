"""Answers summed from stored ones of more groups: free, noisier, and only where asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from narrowed import integer, number
from privacy.seeded import SeededRandomness
from session.asking import Asking

from dpsql.bounding.options import ContributionLimits, ReleaseOptions
from dpsql.ledger.chain.entry import Charged
from dpsql.session.answer.answer import Answer
from dpsql.session.ledger_access import recorded_ledger
from dpsql.session.options import DEFAULT_OPTIONS, AnswerOptions, QueryOptions
from dpsql.session.session import Session
from dpsql.structs import replace

FINE = (
    "SELECT o_orderstatus, o_orderpriority, count(*), sum(o_totalprice) FROM orders GROUP BY 1, 2"
)
COARSE = "SELECT o_orderpriority, count(*), sum(o_totalprice) FROM orders GROUP BY 1"

REUSE = QueryOptions(answer=AnswerOptions(reuse=True))
LEAVING_OUT = [
    replace(REUSE, release=ReleaseOptions(min_units=2)),
    replace(REUSE, release=ReleaseOptions(nonnegative=True)),
]


@pytest.fixture
def session(tpch_schema: Path) -> Iterator[Asking]:
    session = Session(tpch_schema, epsilon="0.01", randomness=SeededRandomness("rollup"))
    yield Asking(session, REUSE)
    session.close()


def spent(session: Asking) -> Fraction:
    return session.balance().spent.amount


def rows(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def is_summed(session: Asking, sql: str) -> bool:
    """Whether `sql` is answered from what is stored; else it must have been charged."""
    before = spent(session)
    answer = session.query(sql)
    assert bool(answer.privacy.summed) == (spent(session) == before)
    assert answer.privacy.stored == bool(answer.privacy.summed)
    return bool(answer.privacy.summed)


def charges(session: Asking) -> int:
    with recorded_ledger(session.session.schema) as ledger:
        return sum(isinstance(entry.event, Charged) for entry in ledger.history())


def test_a_value_is_the_sum_of_stored_cells_and_costs_nothing(session: Asking) -> None:
    fine = session.query(FINE)
    before = charges(session)
    coarse = session.query(COARSE)
    assert charges(session) == before
    assert coarse.privacy.loss is None
    assert coarse.privacy.stored
    expected: dict[str, list[Fraction]] = {}
    for _, priority, count, total in rows(fine.table):
        sums = expected.setdefault(str(priority), [Fraction(0), Fraction(0)])
        sums[0] += number(count)
        sums[1] += number(total)
    found = {key: [number(count), number(total)] for key, count, total in rows(coarse.table)}
    assert found == expected
    assert [row[0] for row in rows(coarse.table)] == sorted(expected)


def test_the_same_bytes_are_summed_again(session: Asking) -> None:
    session.query(FINE)
    first, again = session.query(COARSE), session.query(COARSE)
    assert first.table == again.table
    assert again.privacy.summed == first.privacy.summed


def test_noise_grows_by_the_root_of_the_number_of_cells(session: Asking) -> None:
    fine: Answer = session.query(FINE)
    coarse = session.query(COARSE)
    (statuses,) = {
        sum(row[1] == key for row in rows(fine.table)) for (key, *_) in rows(coarse.table)
    }
    assert coarse.privacy.summed == statuses > 1
    for made in (coarse.privacy.columns, coarse.privacy.shown_columns[1:]):
        for one, cell in zip(made, fine.privacy.columns, strict=True):
            assert one is not None
            assert one.half_width is not None
            assert cell.half_width is not None
            assert one.half_width == pytest.approx(cell.half_width * math.sqrt(statuses))
            assert one.scale == pytest.approx(cell.scale * math.sqrt(statuses))


def test_a_total_is_summed_over_all_cells(session: Asking) -> None:
    fine = session.query(FINE)
    total = session.query("SELECT count(*) AS n FROM orders")
    # The total's limit is another one (rows, not groups of them), and it is summed all the same.
    assert rows(total.table) == [(sum(integer(row[2]) for row in rows(fine.table)),)]
    assert total.privacy.summed == fine.table.num_rows


def test_the_least_noisy_of_two_answers_is_summed(session: Asking) -> None:
    session.query(FINE)
    session.query(COARSE.replace("o_orderpriority", "o_orderstatus"), epsilon="0.02")
    few = session.query("SELECT count(*) FROM orders")
    assert few.privacy.summed == 3


def test_what_is_written_otherwise_is_summed_too(session: Asking) -> None:
    session.query(FINE + " ORDER BY 3 DESC LIMIT 2")
    assert is_summed(
        session,
        "WITH o AS (SELECT o_orderpriority AS p FROM orders) SELECT count(*), p FROM o GROUP BY p",
    )


def test_nothing_is_summed_unless_it_is_asked_for(session: Asking) -> None:
    session.options = DEFAULT_OPTIONS
    session.query(FINE)
    assert not is_summed(session, COARSE)


def test_a_stored_answer_goes_before_a_summed_one(session: Asking) -> None:
    session.query(FINE)
    session.options = DEFAULT_OPTIONS
    direct = session.query(COARSE)
    session.options = REUSE
    again = session.query(COARSE)
    assert again.privacy.summed == 0
    assert again.table == direct.table


CHARGED = [
    "SELECT o_orderpriority, avg(o_totalprice) FROM orders GROUP BY 1",
    "SELECT o_orderpriority, count(DISTINCT o_custkey) FROM orders GROUP BY 1",
    "SELECT o_orderpriority, count(*), dp_stddev(count(*)) FROM orders GROUP BY 1",
    "SELECT o_orderpriority, count(*) FROM orders WHERE o_totalprice > 10 GROUP BY 1",
    "SELECT o_orderpriority, count(*) FILTER (WHERE o_totalprice > 10) FROM orders GROUP BY 1",
    "SELECT o_orderpriority, sum(2 * o_totalprice) FROM orders GROUP BY 1",
    "SELECT o_orderpriority, o_orderstatus, sum(o_totalprice) FROM orders GROUP BY 1, 2",
    "SELECT year(o_orderdate), count(*) FROM orders GROUP BY 1",
    "SELECT l_shipmode, count(*) FROM lineitem GROUP BY 1",
    "SELECT count(*) FROM customer WHERE c_acctbal > (SELECT count(*) FROM orders)",
]


@pytest.mark.parametrize("sql", CHARGED)
def test_what_cells_do_not_add_up_to_is_charged(session: Asking, sql: str) -> None:
    session.query(FINE)
    assert not is_summed(session, sql)


@pytest.mark.parametrize(
    "options",
    [
        replace(REUSE, limits=ContributionLimits(groups=1)),
        replace(REUSE, limits=ContributionLimits(rows_per_group=1)),
        replace(REUSE, limits=ContributionLimits(rows=2)),
        *LEAVING_OUT,
    ],
)
def test_other_limits_are_charged(session: Asking, options: QueryOptions) -> None:
    session.query(FINE)
    session.options = options
    assert not is_summed(session, COARSE)


@pytest.mark.parametrize("options", LEAVING_OUT)
def test_cells_that_were_left_out_or_clipped_are_not_summed(
    session: Asking, options: QueryOptions
) -> None:
    session.options = options
    session.query(FINE)
    assert not is_summed(session, COARSE)


def test_units_counted_as_rows_are_not_summed(session: Asking) -> None:
    session.options = replace(REUSE, limits=ContributionLimits(rows_per_group=1))
    session.query(FINE.replace("count(*)", "count(DISTINCT o_custkey)"))
    assert not is_summed(
        session, "SELECT o_orderpriority, count(DISTINCT o_custkey) FROM orders GROUP BY 1"
    )


def test_chosen_keys_are_not_summed(session: Asking) -> None:
    session.query("SELECT o_clerk, o_orderpriority, count(*) FROM orders GROUP BY 1, 2")
    assert not is_summed(session, "SELECT o_orderpriority, count(*) FROM orders GROUP BY 1")


def test_more_accuracy_than_was_stored_is_charged(session: Asking) -> None:
    session.query(FINE)
    before = spent(session)
    assert session.query(COARSE, epsilon="0.02").privacy.summed == 0
    assert spent(session) > before
    assert session.query("SELECT count(*) FROM orders", epsilon="0.005").privacy.summed


def test_joint_domains_are_summed_within_each_group(session: Asking) -> None:
    nations = (
        "FROM customer JOIN nation ON c_nationkey = n_nationkey"
        " JOIN region ON n_regionkey = r_regionkey"
    )
    fine = session.query(f"SELECT r_name, n_name, count(*) {nations} GROUP BY 1, 2")
    coarse = session.query(f"SELECT r_name, count(*) {nations} GROUP BY 1")
    assert coarse.privacy.summed
    expected: dict[object, int] = {}
    for region, _, count in rows(fine.table):
        expected[region] = expected.get(region, 0) + integer(count)
    assert {region: integer(count) for region, count in rows(coarse.table)} == expected


def test_another_session_finds_the_answer_by_asking_for_it(
    tpch_schema: Path, session: Asking
) -> None:
    session.query(FINE)
    other = Asking(Session(tpch_schema, epsilon="0.01"), REUSE)
    assert other.query(FINE).privacy.loss is None
    assert is_summed(other, COARSE)
    other.close()


def test_what_would_be_summed_takes_no_share(session: Asking) -> None:
    assert session.share(COARSE) > 0
    session.query(FINE)
    assert session.share(COARSE) == 0


def test_only_what_is_not_summed_of_a_statement_is_charged(session: Asking) -> None:
    session.query(FINE, epsilon="0.01")
    answer = session.query(
        "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM customer)", epsilon="0.012"
    )
    assert answer.privacy.loss is not None
    assert answer.privacy.summed
    assert not answer.privacy.stored


def test_a_sum_of_cells_that_is_off_too_far_is_charged_instead(session: Asking) -> None:
    fine = "SELECT o_orderstatus, o_orderpriority, count(*) AS n FROM orders GROUP BY 1, 2"
    coarse = "SELECT o_orderpriority, count(*) AS n FROM orders GROUP BY 1"
    session.meet(Fraction(500))
    (told,) = session.query(fine).half_widths[2:]
    # Each cell is within ± 500, a sum of three of them isn't.
    assert isinstance(told, float)
    assert 500 / 3**0.5 < told <= 500
    assert not is_summed(session, coarse)
    (told,) = session.query(coarse).half_widths[1:]
    assert isinstance(told, float)
    assert told <= 500
    assert session.share(fine) == 0
