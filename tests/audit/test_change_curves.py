"""Tables of global sensitivities that are known from teaching, as the command line gives them."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from cli.cli_run import Run, runner
from documentation.blocks import blocks
from documentation.pages import DOCS, check_table
from notes.compiler import schema_of

from dpsql.audit.databases.search_space import Size
from dpsql.audit.databases.universe import Universe, parse_universe
from dpsql.audit.sensitivity.change_curves import Against, change_curves
from dpsql.errors import BadParameter
from dpsql.schema.model import Neighbors

GOLDEN = json.loads(
    (Path(__file__).parent.parent.parent / "fixtures/founding/golden.json").read_text("utf-8")
)
FUNCTIONS = {
    "mean": "avg",
    "median": "median",
    "count": "count",
    "sum": "sum",
    "std": "stddev_pop",
    "var": "var_pop",
}
SVG = "{http://www.w3.org/2000/svg}"

UNIVERSES: dict[str, tuple[tuple[str, ...], int, int, str]] = {
    "school_year": (
        ("--universe", "school_year=1,2,2,2,5,5,7,8,9,9"), 6, 4, "mean median count sum std var",
    ),
    "absence_days": (
        ("--universe", "absence_days=1,2,3,4,5,6,7,8,15,20"), 6, 4, "mean median count sum std var",
    ),
    "mood": (("--declared", "--copies", "4"), 4, 1, "mean sum var"),
    "driving": (("--declared", "--copies", "4"), 4, 3, "mean sum var"),
}  # fmt: skip
"""How the universe is named, the rows of a database, the largest distance, and what is asked."""

BESIDE = {
    "mood": {
        "sum": {"unbounded": [2], "bounded": [1]},
        "mean": {"unbounded": [0.25], "bounded": [0.25]},
        "var": {"unbounded": [0.1875], "bounded": [0.1875]},
    }
}
RELATIONS = {"unbounded": "add_remove", "bounded": "change_one"}


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The schema that the page shows."""
    (block,) = (b for b in blocks(DOCS / "sensitivity.md") if b.marks.get("file") == "school.yaml")
    path = tmp_path_factory.mktemp("school") / "school.yaml"
    path.write_text(block.text, encoding="utf-8")
    return path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(monkeypatch)


@pytest.fixture(scope="module")
def tabulated(school: Path) -> Any:
    """The changes of the plain answer, by statistic and relation, that the command prints."""

    @cache
    def of(column: str) -> dict[tuple[str, str], list[float]]:
        listed, n, apart, asked = UNIVERSES[column]
        terms = ", ".join(f"{FUNCTIONS[name]}({column}) AS {name}" for name in asked.split())
        with pytest.MonkeyPatch.context() as patch:
            found = runner(patch)(
                "audit", "sensitivity", school, f"SELECT {terms} FROM pupils", *listed,
                "--exactly", n, "--apart", apart, "--against", "distance", "--format", "json",
            )  # fmt: skip
        assert found.code == 0, found.err
        (drawn,) = json.loads(found.out)
        assert drawn["points"] == list(range(1, apart + 1))
        return {
            (about, curve["neighbors"]): curve["observed"]
            for curve in drawn["curves"]
            for about, plain, _ in [curve["about"].partition(", without bounds or noise")]
            if plain
        }

    return of


def expected(column: str, name: str) -> dict[str, list[float]]:
    """The figures of the literature, for each relation."""
    for scenario in ("a", "b"):
        figure = GOLDEN.get(f"empirical.{scenario}_{column}.{name}")
        if figure is not None:
            return dict(figure["value"])
    return BESIDE[column][name]  # type: ignore[return-value]


@pytest.mark.parametrize("column", UNIVERSES)
def test_the_command_reproduces_the_tables_of_teaching(column: str, tabulated: Any) -> None:
    for name in UNIVERSES[column][3].split():
        figures = expected(column, name)
        for known, relation in RELATIONS.items():
            assert tabulated(column)[name, relation] == pytest.approx(figures[known], abs=1e-9)


def test_the_page_has_the_tables(tabulated: Any, request: pytest.FixtureRequest) -> None:
    lines = ["| universe | of | neighbours | k = 1 | k = 2 | k = 3 | k = 4 |\n"]
    lines += ["| --- | --- | --- | ---: | ---: | ---: | ---: |\n"]
    for column, (*_, asked) in UNIVERSES.items():
        for name in asked.split():
            for relation in RELATIONS.values():
                numbers = [f"{value:.4g}" for value in tabulated(column)[name, relation]]
                cells = [column, name, relation, *numbers, *[""] * (4 - len(numbers))]
                lines.append(f"| {' | '.join(cells)} |\n".replace("|  |", "| |"))
    check_table(request, "enumeration-table", "".join(lines).replace("|  |", "| |"))


def test_a_mean_changes_less_the_more_units_there_are(school: Path, run: Run) -> None:
    size = ("--declared", "--copies", "7", "--against", "size", "--least", "2", "--most", "6")
    sql = "SELECT avg(driving), sum(driving) FROM pupils"
    found = run("audit", "sensitivity", school, sql, *size, "--format", "json")
    (drawn,) = json.loads(found.out)
    assert drawn["points"] == [2, 3, 4, 5, 6]
    changed = {(c["about"].split("(")[0], c["neighbors"]): c["observed"] for c in drawn["curves"]}
    assert changed["avg", "change_one"] == pytest.approx([2 / n for n in range(2, 7)])
    assert changed["sum", "change_one"] == [2] * 5
    assert changed["sum", "add_remove"] == [3] * 5


def test_a_neighbour_may_have_more_units(school: Path, run: Run) -> None:
    # Nothing is left where one of one unit is removed; where 3 is added to 1, the mean is 2.
    size = ("--universe", "driving=1,3", "--exactly", "1", "--against", "distance")
    found = run("audit", "sensitivity", school, "SELECT avg(driving) AS mean FROM pupils", *size)
    assert found.code == 0, found.err
    assert "one neighbour of 1 unit\n" in found.out
    lines = [line.split() for line in found.out.splitlines() if line.startswith("mean, without")]
    assert [line[-3:] for line in lines] == [
        ["add_remove", "observed", "1"],
        ["change_one", "observed", "2"],
    ]


def test_observed_changes_stay_below_what_is_derived() -> None:
    found = change_curves(
        "SELECT sum(value) FROM readings", schema_of("clinic"), list(Neighbors), Against.DISTANCE,
        Size(distance=3, units=3, copies=3, strict=True),
    )  # fmt: skip
    assert not found.violations
    assert found.points == (1, 2, 3)
    (added, changed) = (curve for curve in found.curves if curve.description == "value")
    assert added.derived == added.observed == tuple(map(Fraction, (1, 2, 3)))
    assert changed.derived == changed.observed == tuple(map(Fraction, (2, 4, 6)))


def test_pictures_have_axes_and_a_line_for_each_relation_and_bound(school: Path, run: Run) -> None:
    sql = ("audit", "sensitivity", school, "SELECT sum(driving) AS total FROM pupils")
    size = ("--declared", "--copies", "3", "--against", "distance", "--apart", "2")
    svg = run(*sql, *size, "--format", "svg")
    drawn = ET.fromstring(svg.out)  # noqa: S314 - our own
    plain, noised = drawn.iter(f"{SVG}g")
    assert len(list(plain.iter(f"{SVG}polyline"))) == 2
    assert len(list(noised.iter(f"{SVG}polyline"))) == 4
    texts = [text.text for text in plain.iter(f"{SVG}text")]
    assert "change of total, without bounds or noise" in texts
    assert "k, the units that neighbours differ by" in texts
    assert {"1", "2", "● add_remove, observed", "● change_one, observed"} <= set(texts)
    page = run(*sql, *size, "--format", "html").out
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<svg") == 2
    assert "<td>derived</td>" in page
    one = run(*sql, *size, "--neighbors", "change_one", "--format", "svg").out
    assert "change_one" in one
    assert "add_remove" not in one


def test_a_picture_is_asked_for_with_what_it_is_drawn_against(school: Path, run: Run) -> None:
    found = run("audit", "sensitivity", school, "SELECT sum(mood) FROM pupils", "--format", "svg")
    assert found.code == 2
    assert "svg is for --against" in found.err


@pytest.mark.parametrize(
    ("universe", "sql", "why"),
    [
        ("mood", "SELECT sum(mood) FROM pupils", "write --universe x=1,2,2,5"),
        ("moods=1", "SELECT sum(mood) FROM pupils", "name one of school_year"),
        ("mood=1,x", "SELECT sum(mood) FROM pupils", "'x' is no INTEGER"),
        ("mood=1,2", "SELECT sum(mood) FROM pupils WHERE driving = 1", "driving, too"),
    ],
)
def test_a_universe_that_is_none_is_refused(
    universe: str, sql: str, why: str, school: Path, run: Run
) -> None:
    found = run("audit", "sensitivity", school, sql, "--universe", universe)
    assert found.code == 1
    assert why in found.err


def test_a_universe_lists_rows() -> None:
    size = Size(universe=Universe("cost", ("1", "2")))
    with pytest.raises(BadParameter, match="the statement's unit is the patient"):
        change_curves(
            "SELECT sum(cost) FROM visits", schema_of("clinic"), [Neighbors.ADD_REMOVE],
            Against.DISTANCE, size,
        )  # fmt: skip


def test_one_value_is_one_value_however_it_is_written(school: Path, run: Run) -> None:
    assert parse_universe("x = 1, 2").values == ("1", "2")
    # Of 1, 01 and 2 there are two different rows: three databases of one row are not.
    of = ("audit", "sensitivity", school, "SELECT sum(mood) FROM pupils", "--most", "1")
    texts = [run(*of, "--universe", f"mood={listed}").out for listed in ("1,01,2", "1,1,2")]
    assert texts[0] == texts[1]


def test_no_database_is_too_small_for_the_distance(school: Path, run: Run) -> None:
    size = ("--exactly", "2", "--apart", "3", "--against", "distance")
    found = run("audit", "sensitivity", school, "SELECT sum(mood) FROM pupils", *size)
    assert found.code == 1
    assert "no neighbours 3 apart" in found.err
