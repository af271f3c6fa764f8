"""Errors against ε: those that EXPLAIN tells at each, without data, source or budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from cli.cli_run import Run, runner

from dpsql.dbapi.connection import Connection
from dpsql.errors import BadParameter, Refused
from dpsql.plan.bounded_release.estimator import Mean
from dpsql.release.columns.confidence_interval import error_interval
from dpsql.report.chart import HEIGHT, WIDTH, Line, blocks
from dpsql.session.compile.compile import compiler_of
from dpsql.session.compile.request import ANSWER
from dpsql.session.compile.source_facts import DataEdition
from dpsql.session.explain.error_curve import Measure, epsilon_grid
from dpsql.session.ledger_access import existing_ledger
from dpsql.session.options import DEFAULT_OPTIONS, AnswerOptions, PriceOptions, QueryOptions
from dpsql.session.session import Session

SCHEMA = """
dataset: swept
source: nowhere
units:
  patient: {table: patients, key: id}
tables:
  patients:
    key: id
    unit: patient
    columns:
      id: {type: bigint}
      sex: {type: varchar, values: [F, M], nullable: false}
      age: {type: integer, bounds: [0, 120], nullable: false}
      cost: {type: "decimal(10,2)", bounds: [0, 100], nullable: false}
  doctors: {public: true, columns: {name: {type: varchar}}}
budget: {epsilon: 3, delta: 1.0e-6, accounting: zcdp}
per_query: {epsilon: 0.1, max_epsilon: 1}
"""

ALL = (
    "SELECT sex, count(*) AS n, avg(age) AS mean, median(age) AS middle, sum(cost) / count(*) AS r"
    " FROM patients GROUP BY sex"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "schema.yaml"
    found.write_text(SCHEMA)
    return found


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    found = Session(path)
    yield found
    found.close()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(monkeypatch)


def test_errors_are_those_that_are_explained_at_each_epsilon(session: Session) -> None:
    points = epsilon_grid(session.schema, "0.05..1")
    assert points == tuple(map(Fraction, ("0.05", "0.1", "0.2", "0.5", "1")))
    sql = "SELECT sex, count(*) AS n, sum(cost) AS s FROM patients GROUP BY sex"
    sweep = session.sweep(sql, points)
    assert sweep.epsilons == (0.05, 0.1, 0.2, 0.5, 1)
    for row, epsilon in enumerate(points):
        (release,) = session.explain(sql, QueryOptions(epsilon)).releases
        assert [made.half_width for made in release.noise] == [
            column.errors[row] for column in sweep.columns
        ]


def test_it_needs_no_source_and_makes_no_ledger(session: Session) -> None:
    found = session.sweep(ALL, epsilon_grid(session.schema))
    assert [(c.name, c.measure) for c in found.columns] == [
        ("n", Measure.VALUE),
        ("mean", Measure.ROWS),
        ("middle", Measure.RANK),
    ]
    assert found.unknown == ("r",)
    assert session._context.execution._source is None
    with existing_ledger(session.schema) as ledger:
        assert ledger is None


def test_a_mean_of_many_rows_lies_within_what_is_told(session: Session) -> None:
    """By Fieller's interval at both ends of the range, and within 1 % of it."""
    sql = "SELECT avg(age) FROM patients"
    context = session._context
    compiler = compiler_of(
        context, sql, DEFAULT_OPTIONS, {}, ANSWER, DataEdition("any"), pays=False
    )
    (release,) = compiler.compile(Fraction(1)).releases
    (output,) = release.step.bounded.outputs
    mean = output.estimator
    assert isinstance(mean, Mean)
    (made,) = session.sweep(sql, [Fraction(1)]).columns
    rows = 1_000_000
    row = [0, 0]
    row[mean.count] = rows
    row[mean.total] = 60 * rows - 1
    _, low, _ = error_interval(mean, tuple(row), release.step.measurement.mechanisms)
    assert low is not None
    assert float(120 - low) == pytest.approx(made.errors[0] / rows, rel=0.01)


def test_an_error_target_does_not_choose_what_is_swept(session: Session) -> None:
    plain = session.sweep(ALL, epsilon_grid(session.schema))
    options = QueryOptions(price=PriceOptions(max_error=Fraction(1)))
    assert session.sweep(ALL, epsilon_grid(session.schema), options) == plain


def test_levels_that_add_up_have_less_error(session: Session) -> None:
    sql = "SELECT sex, count(*) AS n FROM patients GROUP BY ROLLUP (sex)"
    (drawn,) = session.sweep(sql, [Fraction(1)]).columns
    options = QueryOptions(answer=AnswerOptions(consistent=True))
    (shown,) = session.sweep(sql, [Fraction(1)], options).columns
    assert shown.errors[0] < drawn.errors[0]


@pytest.mark.parametrize("asked", ["1..0.5", "0.1", "0..1", "0.1..2", "a..b", "nan..1", "..", ""])
def test_what_is_no_range_is_refused_with_one(session: Session, asked: str) -> None:
    with pytest.raises(BadParameter) as refused:
        epsilon_grid(session.schema, asked)
    hint = refused.value.hint or ""
    if "--sweep " in hint:
        assert epsilon_grid(session.schema, hint.split("--sweep ")[1])


def test_a_grid_is_short_however_wide(session: Session) -> None:
    assert len(epsilon_grid(session.schema, "0.000001..1")) <= 40
    assert epsilon_grid(session.schema, "0.3..0.3") == (Fraction(3, 10),)


@pytest.mark.parametrize(
    "sql", ["SELECT name FROM doctors", "SELECT sum(cost) / count(*) FROM patients"]
)
def test_what_has_no_known_error_is_refused(session: Session, sql: str) -> None:
    with pytest.raises(Refused):
        session.sweep(sql, epsilon_grid(session.schema))


def test_a_line_goes_down_a_decade_in_a_picture() -> None:
    drawn = blocks([Line("n ±", "●", ((0.01, 1000.0), (1.0, 10.0)))])
    assert drawn[0].startswith("1e3 ┤●")
    assert drawn[HEIGHT - 1].endswith("●")
    assert drawn[HEIGHT] == " " * 4 + "└" + "─" * WIDTH
    assert drawn[-1].strip() == "● n ±"
    marked = [line.index("●") for line in drawn[:HEIGHT]]
    assert marked == sorted(marked)
    assert blocks([Line("0", "●", ((0.5, 0.0),))])


def test_every_form_says_the_same(path: Path) -> None:
    with Connection(Session(path)) as connection:
        found = connection.sweep(ALL.replace("AS n", 'AS "<b>&"'), "0.1..1")
    assert "<b>& ±" in str(found)
    assert "\x1b" not in str(found)
    page = found._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;&amp; ±" in page
    picture = ET.fromstring(found.svg())  # noqa: S314 - our own
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))) == 3
    data = json.loads(found.json())
    assert data["epsilons"] == [0.1, 0.2, 0.5, 1.0]
    assert [column["measure"] for column in data["columns"]] == ["±", "± · rows", "rank"]


def test_the_command_tabulates_and_plots(path: Path, run: Run) -> None:
    found = run("explain", str(path), ALL, "--sweep")
    assert found.code == 0
    header = found.out.splitlines()[0]
    assert re.split(r"  +", header.strip()) == ["epsilon", "n ±", "mean ± · rows", "middle rank"]
    assert "┤" in found.out
    svg = run("explain", str(path), ALL, "--format", "svg", "--sweep", "0.1..1")
    assert svg.out.startswith("<svg")
    assert run("explain", str(path), ALL, "--format", "svg").code == 2
    wrong = run("explain", str(path), ALL, "--sweep", "1..0.1")
    assert wrong.code == 1
    assert "write --sweep 0.01..1" in wrong.err
