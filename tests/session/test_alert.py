"""ALERT: which conditions are named, by which law, and at which price.

Laws are compared by chi-squared tests, each of which fails falsely with a probability of 10^-6.
"""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from data.database import attached
from data.insertion import insert
from neighbor_search.share import in_turn
from notes.exact import raw_groups
from privacy.laws import fit
from privacy.seeded import SeededRandomness
from privacy.test_above_threshold import law, outcomes

from dpsql.bounding.options import ReleaseOptions
from dpsql.errors import Error
from dpsql.plan.expression import Literal
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold, ThresholdMoves
from dpsql.release.alert import alert_table
from dpsql.release.columns.group_keys import domain_table
from dpsql.report.explanation.text_lines import noise
from dpsql.schema.sql_type import Integer
from dpsql.session.options import PriceOptions, QueryOptions
from dpsql.session.session import Session

ALPHA = 1e-6
WARDS = ("acute", "burns", "chest", "drugs", "eyes")

SCHEMA = """
dataset: hospital-{accounting}-{neighbors}
source: data.duckdb
neighbors: {neighbors}
units:
  patient: {{table: patients, key: patient_id}}
tables:
  patients: {{key: patient_id, unit: patient, columns: {{patient_id: {{type: bigint}}}}}}
  stays:
    unit: {{column: patient_id, references: patients.patient_id}}
    limits: {{groups: 5, rows_per_group: 2, rows: 10}}
    columns:
      patient_id: {{type: bigint}}
      ward: {{type: varchar, values: [acute, burns, chest, drugs, eyes]}}
      nights: {{type: integer, bounds: [0, 10]}}
      change: {{type: double, bounds: [-1, 2]}}
budget: {{epsilon: 500, allow_large_epsilon: true, delta: {delta}, accounting: {accounting}}}
per_query: {{epsilon: 1, max_epsilon: 90}}
"""

FIRST = "ALERT WHEN count(*) > 25 FROM stays BY ward"
SPARSE = QueryOptions(release=ReleaseOptions(min_units=1))
"""By which no counts are released."""


def rows() -> list[tuple[int, str | None, int | None, float | None]]:
    """Ten stays in the first ward, ten more in each that follows, a thousand of patient 0 there."""
    found: list[tuple[int, str | None, int | None, float | None]] = [
        (patient, ward, 3, 0.5) for n, ward in enumerate(WARDS) for patient in range(10 * n + 10)
    ]
    found += [(0, "acute", 10, float("nan"))] * 1000
    return [*found, (7, None, None, None), (8, None, 2, float("inf"))]


COUNTS = [11, 20, 30, 40, 50, 2]
"""Of each patient, two stays in a ward at most; the last is of no ward."""


def opened(
    folder: Path,
    accounting: Accounting = Accounting.PURE,
    neighbors: str = "add_remove",
    epsilon: Fraction = Fraction(1),
) -> Session:
    source = folder / "data.duckdb"
    if not source.exists():
        with attached(source) as connection:
            connection.execute("CREATE TABLE patients AS SELECT range AS patient_id FROM range(50)")
            connection.execute(
                "CREATE TABLE stays (patient_id BIGINT, ward VARCHAR, nights INT, change DOUBLE)"
            )
            insert(connection, "stays", rows())
    delta = 0 if accounting is Accounting.PURE else "1.0e-6"
    path = folder / f"{accounting.value}-{neighbors}.yaml"
    path.write_text(SCHEMA.format(accounting=accounting.value, delta=delta, neighbors=neighbors))
    return Session(path, epsilon=epsilon, randomness=SeededRandomness("alert"))


def mechanism_of(session: Session, sql: str, options: QueryOptions = SPARSE) -> AboveThreshold:
    (release,) = session.compile(sql, options).releases
    mechanism = release.step.measurement.table_mechanism
    assert isinstance(mechanism, AboveThreshold)
    return mechanism


@pytest.mark.parametrize(
    ("accounting", "neighbors"),
    in_turn(
        (
            ("pure-add_remove", (Accounting.PURE, "add_remove")),
            ("zcdp-add_remove", (Accounting.ZCDP, "add_remove")),
            ("pure-change_one", (Accounting.PURE, "change_one")),
            ("zcdp-change_one", (Accounting.ZCDP, "change_one")),
        ),
        4,
    ),
)
def test_wards_are_named_by_the_law_of_their_counts(
    tmp_path: Path, accounting: Accounting, neighbors: str
) -> None:
    sql = FIRST + " LIMIT 2"
    with closing(opened(tmp_path, accounting, neighbors)) as session:
        (release,) = session.compile(sql, SPARSE).releases
        made = mechanism_of(session, sql)
    with attached(tmp_path / "data.duckdb", read_only=True) as connection:
        for domain in release.step.query.domains:
            connection.register(domain.name, domain_table(domain))
        raw = raw_groups(connection, release, "1")
    step, source = release.step, SeededRandomness(f"{accounting}{neighbors}")
    numbers = {tuple((*WARDS, None)[i] for i in n): k for k, n in enumerate(outcomes(6, 2))}
    drawn = []
    for _ in range(5000):
        table = alert_table(raw, step.bounded, step.query, made, source)
        drawn.append(numbers[tuple(table.column(0).to_pylist())])
    reach, span = (2, 2) if neighbors == "add_remove" else (2, 4)
    assert made.moves == ThresholdMoves(reach, span)
    assert fit(np.array(drawn), law(made, tuple(26 - count for count in COUNTS))) > ALPHA


def test_the_first_that_hold_are_named_in_the_order_of_groups_and_conditions(
    tmp_path: Path,
) -> None:
    sql = (
        "ALERT WHEN count(*) < 15 AS few, count(*) FILTER (WHERE nights >= 3) >= 35 AS many,"
        " sum(nights) > 140.5 AS long FROM stays WHERE nights IS NOT NULL BY ward"
    )
    expected = [
        ("acute", "few"), ("drugs", "many"), ("eyes", "many"), ("eyes", "long"), (None, "few"),
    ]  # fmt: skip
    with closing(opened(tmp_path, epsilon=Fraction(70))) as session:
        for options in (SPARSE, QueryOptions()):
            for firings in (1, 3, 5):
                text = sql if firings == 1 else f"{sql} LIMIT {firings}"
                table = session.query(text, options=options).table
                names = [tuple(row.values()) for row in table.to_pylist()]
                assert names == expected[:firings]


def test_where_nothing_holds_there_is_no_row(tmp_path: Path) -> None:
    with closing(opened(tmp_path, epsilon=Fraction(50))) as session:
        for options in (SPARSE, QueryOptions()):
            for by in (" BY ward", ""):
                answer = session.query(
                    f"ALERT WHEN count(*) > 9000 FROM stays{by}",
                    options=options,
                )
                assert answer.table.num_rows == 0
                assert answer.names[-1] == "alert"


def test_without_by_all_rows_are_one_group(tmp_path: Path) -> None:
    with closing(opened(tmp_path, epsilon=Fraction(50))) as session:
        answer = session.query(
            "ALERT WHEN count(*) > 9000 AS huge, count(nights) > 60 AS large FROM stays",
            options=SPARSE,
        )
        assert answer.table.to_pydict() == {answer.table.column_names[0]: ["large"]}


def test_rows_of_a_unit_are_limited_in_each_group(tmp_path: Path) -> None:
    # Of 1,001 stays of patient 0 in a ward of eleven, two count.
    with closing(opened(tmp_path, epsilon=Fraction(50))) as session:
        sql = "ALERT WHEN count(*) > 14 FROM stays BY ward"
        assert session.query(sql, options=SPARSE).table.column(0).to_pylist() == ["burns"]


def test_values_that_are_no_number_add_nothing(tmp_path: Path) -> None:
    with closing(opened(tmp_path, epsilon=Fraction(70))) as session:
        answer = session.query(
            "ALERT WHEN sum(change) < -1 FROM stays BY ward LIMIT 9", options=SPARSE
        )
        assert answer.table.num_rows == 0


def test_an_alert_is_charged_once_and_given_again(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as session:
        first = session.query(FIRST, options=SPARSE)
        assert first.privacy.epsilon
        again = session.query("  alert   when COUNT(*) > 25.0 FROM stays BY ward", options=SPARSE)
        assert not again.privacy.epsilon
        assert again.table.column(0).to_pylist() == first.table.column(0).to_pylist()
        renamed = session.query(FIRST.replace("25", "25 AS many"), options=SPARSE)
        assert not renamed.privacy.epsilon
        other = session.query(FIRST.replace("25", "26"), options=SPARSE)
        assert other.privacy.epsilon


def test_many_groups_cost_what_two_do(tmp_path: Path) -> None:
    two = FIRST.replace("FROM stays", "FROM stays WHERE ward IN ('drugs', 'eyes')")
    with closing(opened(tmp_path)) as session:
        many, few = mechanism_of(session, FIRST), mechanism_of(session, two)
    assert many.epsilon() == few.epsilon() == 1
    assert many.moves == few.moves
    # Of six comparisons instead of two, noise has a little more to hide in.
    assert many.error(6, Fraction(95, 100)) < few.error(2, Fraction(95, 100)) * Fraction(5, 4)


def test_counts_are_compared_where_they_are_nearer(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as session:
        assert mechanism_of(session, FIRST, QueryOptions()).firings == 1
        alone = session.compile("ALERT WHEN count(*) > 25 FROM stays WHERE ward = 'eyes'").releases
        wide = session.compile(FIRST, QueryOptions(price=PriceOptions(max_error=Fraction(40))))
    for release in (*alone, *wide.releases):
        assert release.step.measurement.table_mechanism is None


def test_the_report_tells_how_far_off_a_threshold_is(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as session:
        made = mechanism_of(session, FIRST)
        report = session.explain(FIRST, options=SPARSE)
    error = float(made.error(6, Fraction(95, 100)))
    (release,) = report.releases
    (column,) = release.noise
    assert column.threshold_error == error
    assert f"off its threshold by {error:.6g} at most" in noise(column)
    assert any("of 6 comparisons the first that holds is named" in line for line in release.limits)


def test_parameters_are_where_values_are(tmp_path: Path) -> None:
    with closing(opened(tmp_path, epsilon=Fraction(50))) as session:
        answer = session.query(
            "ALERT WHEN count(*) > 14 FROM stays WHERE nights >= ? BY ward",
            parameters={"1": Literal(3, Integer(32))},
        )
        assert answer.table.column(0).to_pylist() == ["burns"]


def test_an_empty_table_and_one_without_groups_fail_not(tmp_path: Path) -> None:
    with closing(opened(tmp_path)):
        pass
    with attached(tmp_path / "data.duckdb") as connection:
        connection.execute("DELETE FROM stays")
    with closing(opened(tmp_path, epsilon=Fraction(50))) as session:
        few = session.query("ALERT WHEN count(*) < 9 FROM stays BY ward LIMIT 9", options=SPARSE)
        assert few.table.column(0).to_pylist() == [*WARDS, None]
        none = session.query("ALERT WHEN sum(nights) <= -9 FROM stays", options=SPARSE)
        assert none.table.num_rows == 0


@pytest.mark.parametrize(
    "sqls",
    [
        (
            "ALERT",
            "ALERT WHEN",
            "ALERT WHEN FROM stays",
            "ALERT WHEN count(*) > 5 FROM stays BY ward BY ward",
            "ALERT WHEN count(*) > 5 FROM stays LIMIT 101",
            "ALERT WHEN count(*) > 5 FROM stays LIMIT -1",
            "ALERT WHEN count(*) > 5 FROM stays BY ward OFFSET 1",
            "ALERT WHEN count(*) > 5 FROM stays BY ward HAVING count(*) > 2",
            "ALERT WHEN count(*) > 5 FROM stays BY ROLLUP (ward)",
            "ALERT WHEN count(*) > 5 FROM stays UNION SELECT 1",
        ),
        (
            "ALERT WHEN count(*) FROM stays",
            "ALERT WHEN count(*) = 5 FROM stays",
            "ALERT WHEN 5 > count(*) FROM stays",
            "ALERT WHEN count(*) > 'x' FROM stays",
            "ALERT WHEN count(*) > NULL FROM stays",
            "ALERT WHEN count(*) > 1e999 FROM stays BY nothing",
            "ALERT WHEN count(*) + 1 > 5 FROM stays",
            "ALERT WHEN count(DISTINCT ward) > 5 FROM stays",
            "ALERT WHEN count(*) OVER () > 5 FROM stays",
            "ALERT WHEN sum(patient_id) > 5 FROM stays",
            f"SELECT * FROM ({FIRST})",
        ),
    ],
    ids=["clauses", "conditions"],
)
def test_what_is_no_alert_is_refused(tmp_path: Path, sqls: tuple[str, ...]) -> None:
    with closing(opened(tmp_path)) as session:
        for sql in sqls:
            with pytest.raises(Error):
                session.compile(sql)


def test_large_thresholds_and_long_constants_do_not_fail_on_rows(tmp_path: Path) -> None:
    with closing(opened(tmp_path, epsilon=Fraction(50))) as session:
        for number, named in (("1e30", 0), ("-1e30", 1), ("123456789012345678901234567890", 0)):
            sql = f"ALERT WHEN sum(change) > {number} FROM stays BY ward"
            for options in (SPARSE, QueryOptions()):
                assert session.query(sql, options=options).table.num_rows == named
