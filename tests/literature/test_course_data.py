"""Small businesses and diamonds: the data by their laws, and errors beside those of a course.

Statistical tests fail falsely with less than 1e-8 each; answers are drawn with a fixed seed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import fmean, pstdev

import duckdb
import pytest
from cli.cli_run import Run, runner
from documentation.pages import check_table
from engine.relay import Remembering
from privacy.seeded import SeededRandomness

from dpsql.cli.demo.datasets import CARATS, STATES, Dataset, draw, write
from dpsql.engine.opening import open_engine
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.mechanisms import DiscreteLaplace
from dpsql.release.job import Job, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled import compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.source_facts import SourceFacts

FIGURES = json.loads(
    (Path(__file__).parent.parent.parent / "fixtures/founding/golden.json").read_text("utf-8")
)
RUNS = 400
EPSILON = Fraction(1, 10)
BOUNDS = (100_000, 1_000_000, 10_000_000, 100_000_000)

COUNT = "SELECT state, count(*) FROM businesses GROUP BY state"
EMPLOYEES = "SELECT state, sum(employees) FROM businesses GROUP BY state"
ALL_EMPLOYEES = "SELECT sum(employees) FROM businesses"
BINS = "SELECT ceil(carat), count(*) FROM diamonds GROUP BY ceil(carat)"
ONE_BIN = "SELECT count(*) FROM diamonds WHERE ceil(carat) = {}"
INCOMES = "SELECT state, sum(least(income, {})) FROM businesses GROUP BY state"


@dataclass(frozen=True)
class Asked:
    """A statement's exact answer, the scale of its noise, and its mean errors, by group."""

    exact: dict[tuple[object, ...], float]
    scale: float
    errors: dict[tuple[object, ...], float]


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[Dataset, Schema]:
    folder = tmp_path_factory.mktemp("courses")
    for dataset in Dataset:
        write(dataset, folder / dataset.value, 1)
    return {each: load_schema(folder / each.value / "schema.yaml") for each in Dataset}


@pytest.fixture(scope="module")
def ask(schemas: dict[Dataset, Schema]) -> Callable[..., Asked]:
    def asked(sql: str, epsilon: Fraction = EPSILON, exact_sql: str | None = None) -> Asked:
        dataset = next(each for each in Dataset if f"FROM {each.value}" in sql)
        schema = schemas[dataset]
        exact = exact_answer(exact_sql or sql, schema)
        with open_engine(engine_source(schema)) as engine:
            loss = PrivacyLoss(Accounting.PURE, epsilon)
            ready = compile_sql(sql, schema, SourceFacts(schema, lambda: engine), loss, "course")
            (release,) = ready.releases
            (mechanism,) = release.step.measurement.noise
            assert isinstance(mechanism, DiscreteLaplace)
            step = release.step.bounded.contributions.statistics[0].step
            answers = list(drawn(release, Remembering(engine), schema, sql))
        errors = {
            key: fmean(abs(each[key] - true) for each in answers) for key, true in exact.items()
        }
        return Asked(exact, float(mechanism.scale * step), errors)

    return asked


def drawn(
    release: CompiledRelease, engine: Remembering, schema: Schema, seed: str
) -> Iterator[dict[tuple[object, ...], float]]:
    """Answers of a release, whose integers are computed once."""
    *keys, value = release.columns[: len(release.step.bounded.contributions.keys) + 1]
    job, randomness = Job(engine_source(schema), (release.step,)), SeededRandomness(seed)
    for _ in range(RUNS):
        table = run(job, engine, randomness)[release.name]
        columns = [table.column(name).to_pylist() for name in (*keys, value)]
        yield {tuple(key): float(number) for *key, number in zip(*columns, strict=True)}


def exact_answer(sql: str, schema: Schema) -> dict[tuple[object, ...], float]:
    with duckdb.connect() as connection:
        for name in schema.tables:
            file = schema.path.parent / "data" / f"{name}.parquet"
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{file}'")
        return {tuple(key): float(n) for *key, n in connection.execute(sql).fetchall()}


def test_businesses_follow_their_laws() -> None:
    table = draw(Dataset.BUSINESSES, 1)
    assert Counter(table["state"].to_pylist()) == STATES
    assert table.num_rows == 100_413
    employees = table["employees"].to_pylist()
    assert (min(employees), max(employees)) == (0, 20)
    # A number of employees has a variance below 10: six standard errors of the sum.
    expected = FIGURES["small_business.expected_total"]["value"]
    assert sum(employees) == pytest.approx(expected, abs=6 * math.sqrt(10 * 100_413))
    # More than 19 of Poisson(10) has the probability 0.0034543.
    cut, share = employees.count(20), 0.0034543 * 100_413
    assert cut == pytest.approx(share, abs=6 * math.sqrt(share))
    logarithms = [math.log(income or 0.005) for income in map(float, table["income"].to_pylist())]
    assert fmean(logarithms) == pytest.approx(10, abs=6 * 2 / math.sqrt(100_413))
    assert pstdev(logarithms) == pytest.approx(2, abs=6 * 2 / math.sqrt(2 * 100_413))


def test_diamonds_have_the_numbers_of_the_known_table() -> None:
    carats = draw(Dataset.DIAMONDS, 1)["carat"].to_pylist()
    assert [math.ceil(c) for c in carats].count(6) == 1
    bins = Counter(math.ceil(carat) for carat in carats)
    assert (
        [bins[n] for n in range(1, 7)]
        == list(CARATS)
        == FIGURES["data.diamonds.carat_bins"]["value"]
    )
    assert len(carats) == 53_940
    assert min(carats) >= Fraction(1, 5)
    assert float(max(carats)) == 5.01


@pytest.mark.parametrize("dataset", Dataset)
def test_a_seed_decides_the_rows(dataset: Dataset) -> None:
    assert draw(dataset, 7).equals(draw(dataset, 7))
    assert not draw(dataset, 7).equals(draw(dataset, 8))


@pytest.mark.parametrize(
    ("sql", "epsilon", "scale"),
    [
        (COUNT, EPSILON, 10),
        (EMPLOYEES, EPSILON, 200),
        (ALL_EMPLOYEES, EPSILON, 200),
        (BINS, EPSILON, 10),
        (ONE_BIN.format(5), EPSILON / 6, 60),
    ],
)
def test_noise_has_the_scales_of_the_course(
    sql: str, epsilon: Fraction, scale: float, ask: Callable[..., Asked]
) -> None:
    asked = ask(sql, epsilon)
    assert asked.scale == pytest.approx(scale, rel=1e-6)
    # |Laplace| has the deviation b: six standard errors.
    for error in asked.errors.values():
        assert error == pytest.approx(scale, abs=6 * scale / math.sqrt(RUNS))


def test_the_page_has_errors_of_businesses(
    ask: Callable[..., Asked], request: pytest.FixtureRequest
) -> None:
    lines = [
        "| asked | exact | Δ | b of the course | mean error of dpsql | of the exact |\n",
        "| --- | ---: | ---: | ---: | ---: | ---: |\n",
    ]
    for name, sql, change in (
        ("count(*)", COUNT, 1), ("sum(employees)", EMPLOYEES, 20),
        ("sum(employees)", ALL_EMPLOYEES, 20),
    ):  # fmt: skip
        asked = ask(sql)
        for key in sorted(asked.exact):
            exact, error = asked.exact[key], asked.errors[key]
            of = " ".join(map(str, key)) or "both"
            lines.append(
                f"| {name}, {of} | {exact:,.0f} | {change} | {change / EPSILON} | {error:.1f} |"
                f" {error / exact:.3%} |\n".replace("%", " %")
            )
    check_table(request, "businesses-table", "".join(lines))


def test_the_page_has_errors_of_diamonds(
    ask: Callable[..., Asked], request: pytest.FixtureRequest
) -> None:
    lines = [
        "| carats | diamonds | b in sequence | b in parallel | error, one statement | six |\n",
        "| --- | ---: | ---: | ---: | ---: | ---: |\n",
    ]
    together = ask(BINS)
    for number, key in enumerate(sorted(together.exact)):
        alone = ask(ONE_BIN.format(number + 1), EPSILON / 6)
        assert together.exact[key] == alone.exact[()] == CARATS[number]
        lines.append(
            f"| ({number}, {number + 1}] | {CARATS[number]:,} | {6 / EPSILON} | {1 / EPSILON} |"
            f" {together.errors[key]:.1f} | {alone.errors[()]:.1f} |\n"
        )
    check_table(request, "diamonds-table", "".join(lines))


def test_the_page_has_errors_of_incomes(
    ask: Callable[..., Asked], schemas: dict[Dataset, Schema], request: pytest.FixtureRequest
) -> None:
    lines = ["| bound | Texas: cut off | mean error | Vermont: cut off | mean error |\n"]
    lines += ["| ---: | ---: | ---: | ---: | ---: |\n"]
    wholly = INCOMES.format(10**15)
    for bound in BOUNDS:
        sql = INCOMES.format(bound)
        cut = exact_answer(sql, schemas[Dataset.BUSINESSES])
        asked = ask(sql, exact_sql=wholly)
        cells = [
            f"{part:.2%}".replace("%", " %")
            for key, exact in sorted(asked.exact.items())
            for part in (1 - cut[key] / exact, asked.errors[key] / exact)
        ]
        lines.append(f"| {bound:,} | {' | '.join(cells)} |\n")
    check_table(request, "income-table", "".join(lines))


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(monkeypatch)


def test_the_command_writes_data_that_are_ready(tmp_path: Path, run_command: Run) -> None:
    for dataset in Dataset:
        folder = tmp_path / dataset.value
        made = run_command("demo", "--data", dataset.value, folder)
        assert made.code == 0, made.err
        assert str(folder / "schema.yaml") in made.out
        assert run_command("check", folder / "schema.yaml").code == 0
        again = run_command("demo", "--data", dataset.value, folder)
        assert again.code == 1
        assert "is there already" in again.err


@pytest.mark.parametrize("arguments", [("somewhere",), ("--data", "diamonds")])
def test_a_folder_and_its_data_are_named_together(
    arguments: Sequence[str], run_command: Run
) -> None:
    assert run_command("demo", *arguments).code == 2
