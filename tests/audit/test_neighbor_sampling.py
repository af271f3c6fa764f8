"""Sensitivity sampling of an owner's own statement: by declared domains, or by public rows.

Laws are known, so that what is sampled is compared with them; each test says how often it fails
although all is well, over seeds that could have been chosen.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import NormalDist

import grimp
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.cli_run import Run, runner
from notes.compiler import schema_of

from dpsql.audit.empirical.neighbor_sampling import NeighborLaw, sample_neighbors
from dpsql.audit.empirical.sensitivity_sampling import (
    WARNING,
    Plan,
    plan,
    plan_of_pairs,
    sample,
)
from dpsql.errors import BadParameter, Error
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Neighbors, Schema

SCHEMA = """
dataset: heights
source: data
tables:
  people:
    unit: row
    columns:
      height: {type: double, bounds: [100, 250], nullable: false}
      share: {type: double, bounds: [0, 1], nullable: false}
      town: {type: varchar, values: [Bonn, Ulm], nullable: false}
      name: {type: varchar, nullable: false}
      pay: {type: "decimal(6,2)", bounds: [0, 1000]}
  heights: {public: true, columns: {height: {type: double}}}
  towns: {public: true, columns: {name: {type: varchar}}}
budget: {epsilon: 1}
"""
ENOUGH = plan(0.05)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People whose heights nobody may look at, and the quantiles of both laws of heights."""
    folder = tmp_path_factory.mktemp("heights")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    laws = (NormalDist(178, 7), NormalDist(162, 6.5))
    heights = [law.inv_cdf((rank + 0.5) / 1000) for law in laws for rank in range(1000)]
    (folder / "data").mkdir()
    pq.write_table(pa.table({"height": heights}), folder / "data" / "heights.parquet")
    pq.write_table(pa.table({"name": ["x"]}), folder / "data" / "towns.parquet")
    people(folder, 170.0)
    return folder / "schema.yaml"


def people(folder: Path, height: float) -> None:
    rows = {"height": [height], "share": [0.5], "town": ["Ulm"], "name": ["Ada"]}
    table = pa.table(rows | {"pay": pa.array([None], pa.decimal128(6, 2))})
    pq.write_table(table, folder / "data" / "people.parquet")


@pytest.fixture
def schema(path: Path) -> Schema:
    return load_schema(path)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(monkeypatch)


def changed(sql: str, schema: Schema, law: NeighborLaw, size: Plan = ENOUGH) -> dict[str, float]:
    return {c.name: c.sampled.mean for c in sample_neighbors(sql, schema, law, size, 1)}


def test_a_replaced_uniform_value_changes_a_sum_by_its_law(schema: Schema) -> None:
    sql, law = "SELECT sum(share) AS total FROM people", NeighborLaw(Neighbors.CHANGE_ONE, 3)
    (found,) = sample_neighbors(sql, schema, law, ENOUGH, 1)
    # |U - U'| has the mean 1/3 and the variance 1/18: six standard errors of 1305 pairs, 2e-9.
    assert found.sampled.mean == pytest.approx(1 / 3, abs=6 * (1 / 18 / 1305) ** 0.5)
    # What the largest of 1305 covers is Beta(1305, 1): below 0.985 with 3e-9, above 1 - 1e-12 too.
    covered = 1 - (1 - found.sampled.sensitivity) ** 2
    assert 0.985 < covered < 1 - 1e-12
    # Of 1305 others, each outside with at most 0.015, 60 are with 2e-13.
    assert found.covered > 1305 - 60


def test_a_removed_uniform_value_changes_a_sum_by_itself(schema: Schema) -> None:
    means = changed(
        "SELECT sum(share) AS total, count(*) AS n FROM people",
        schema,
        NeighborLaw(Neighbors.ADD_REMOVE, 4),
    )
    # A uniform value has the variance 1/12: six standard errors, 2e-9.
    assert means["total"] == pytest.approx(1 / 2, abs=6 * (1 / 12 / 1305) ** 0.5)
    assert means["n"] == 1


def test_a_null_is_drawn_in_one_of_ten(schema: Schema) -> None:
    means = changed(
        "SELECT count(pay) AS n FROM people", schema, NeighborLaw(Neighbors.ADD_REMOVE, 2)
    )
    assert means["n"] == pytest.approx(0.9, abs=6 * (0.09 / 1305) ** 0.5)


def test_groups_change_in_the_l1_norm(schema: Schema) -> None:
    sql = "SELECT town, count(*) AS n FROM people GROUP BY town"
    means = changed(sql, schema, NeighborLaw(Neighbors.CHANGE_ONE, 5))
    # Who is replaced moves to the other town in half of the pairs, which changes two counts.
    assert means == {"n": pytest.approx(1, abs=6 * (1 / 1305) ** 0.5)}


def test_an_entity_has_as_many_rows_as_it_may() -> None:
    means = changed(
        "SELECT count(*) AS n FROM visits",
        schema_of("clinic"),
        NeighborLaw(Neighbors.ADD_REMOVE, 2),
        plan_of_pairs(400),
    )
    rows = min(schema_of("clinic").tables["visits"].limits.rows, 8)
    variance = ((rows + 1) ** 2 - 1) / 12
    # Uniform on 0 to that: six standard errors, 2e-9.
    assert means["n"] == pytest.approx(rows / 2, abs=6 * (variance / 400) ** 0.5)


def test_heights_are_sampled_through_sql(path: Path, run: Run) -> None:
    sql = "SELECT avg(height) AS mean FROM people"
    law = ("--units", "1", "--neighbors", "change_one", "--like", "heights")
    found = run("audit", "sampled-sensitivity", path, sql, *law, "--format", "json")
    assert found.code == 0, found.err
    told = json.loads(found.out)
    assert (told["pairs"], told["rank"]) == (1305, 1305)
    assert told["rho"] == pytest.approx(0.004182869932698051, abs=1e-12)
    (mean,) = told["columns"]
    # E|h - h'| is 11.994 with a standard deviation of 8.7: six standard errors, 2e-9.
    assert mean["mean"] == pytest.approx(11.993920588, abs=6 * 8.7 / 1305**0.5)
    # The largest of 1305 differences is below 34 with 3e-9, and the rows' own ends are 60.4 apart.
    assert 34 < mean["sensitivity"] < 60.5
    assert mean["covered"] > 1305 - 60
    # Ten people are ten times as far from changing their mean.
    ten = run("audit", "sampled-sensitivity", path, sql, *law[2:], "--format", "json")
    assert json.loads(ten.out)["columns"][0]["mean"] == pytest.approx(1.2, abs=0.15)


@pytest.mark.parametrize(
    ("size", "least"), [(plan(0.3), 0.7), (plan_of_pairs(60), 1 - plan_of_pairs(60).gamma)]
)
def test_the_sampled_change_covers_what_the_theorem_says(size: Plan, least: float) -> None:
    def difference(random: Random) -> float:
        return abs(random.random() - random.random())

    levels = [sample(size, difference, seed).sensitivity for seed in range(300)]
    missed = sum(1 - (1 - level) ** 2 < least for level in levels)
    # Each misses with at most rho, 0.04 and 0.02: more than 42 of 300 do with less than 1e-12.
    assert size.rho < 0.041
    assert missed <= 42


def test_a_rank_below_the_largest_is_that_rank() -> None:
    size = Plan(pairs=10, rank=7, rho=0.1, gamma=0.5)
    drawn = iter(range(size.pairs, 0, -1))
    assert sample(size, lambda _: float(next(drawn)), 1).sensitivity == 7


def test_a_seed_draws_the_same_pairs(schema: Schema) -> None:
    law, size = NeighborLaw(Neighbors.CHANGE_ONE, 2), plan_of_pairs(50)
    sql = "SELECT sum(share) FROM people"
    one, again, other = (sample_neighbors(sql, schema, law, size, seed) for seed in (1, 1, 2))
    assert one == again != other


def test_no_private_row_is_read(path: Path, run: Run) -> None:
    of = ("audit", "sampled-sensitivity", path, "SELECT sum(height) FROM people", "--pairs", "50")
    texts = []
    for height in (101.0, 249.0):
        people(path.parent, height)
        texts.append(run(*of, "--like", "heights").out)
    assert texts[0] == texts[1]
    assert WARNING in texts[0]
    # Without a public table there needn't be a source at all.
    (path.parent / "data" / "people.parquet").unlink()
    data = path.parent / "data"
    data.rename(path.parent / "gone")
    without = run(*of)
    (path.parent / "gone").rename(data)
    people(path.parent, 170.0)
    assert without.code == 0, without.err
    assert WARNING in without.out


def test_what_is_no_number_is_no_change(path: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "data").mkdir()
    for file in (path.parent / "data").iterdir():
        (tmp_path / "data" / file.name).write_bytes(file.read_bytes())
    heights = pa.table({"height": [float("nan"), 170.0, None]})
    pq.write_table(heights, tmp_path / "data" / "heights.parquet")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    sql, law = "SELECT avg(height) FROM people", ("--like", "heights", "--pairs", "50")
    of = ("audit", "sampled-sensitivity", tmp_path / "schema.yaml", sql, *law)
    found = run(*of, "--format", "json")
    assert found.code == 0, found.err
    (mean,) = json.loads(found.out)["columns"]
    assert (mean["sensitivity"], mean["mean"]) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("SELECT sum(height) FROM people", "--like", "people"), "name one of heights, towns"),
        (("SELECT sum(height) FROM people", "--like", "towns"), "reads no column that towns has"),
        (("SELECT count(DISTINCT name) FROM people",), "declare bounds or values of name"),
        (("SELECT count(*) FROM heights",), "reads nothing private"),
        (("SELECT sum(height) FROM people", "--pairs", "3"), "draw 10 pairs or more"),
        (("SELECT sum(height) FROM people", "--units", "0"), "--units 1 or more"),
        (("SELECT count(*) FROM people GROUP BY town",), "select the keys of GROUP BY, too"),
        (("SELECT name FROM people",), "would list rows"),
    ],
)
def test_what_cannot_be_sampled_says_what_to_do(
    arguments: tuple[str, ...], why: str, path: Path, run: Run
) -> None:
    found = run("audit", "sampled-sensitivity", path, *arguments)
    assert found.code == 1
    assert why in found.err


def test_a_schema_needs_a_query(path: Path, run: Run) -> None:
    assert run("audit", "sampled-sensitivity", path).code == 2


def test_nothing_that_answers_or_charges_imports_the_sampler() -> None:
    graph = grimp.build_graph("dpsql", cache_dir=None)
    for name in ("sensitivity_sampling", "neighbor_sampling"):
        importers = graph.find_downstream_modules(f"dpsql.audit.empirical.{name}")
        assert importers
        for module in importers:
            assert module.startswith(("dpsql.audit.empirical.", "dpsql.cli.")), module


@pytest.mark.parametrize("sampler", [lambda: plan(2.0), lambda: plan_of_pairs(0)])
def test_a_plan_that_covers_nothing_is_refused(sampler: Callable[[], object]) -> None:
    with pytest.raises((BadParameter, Error)):
        sampler()
