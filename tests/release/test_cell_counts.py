"""Which rows each group has in which cells doesn't depend on the order that an engine has."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.release.add_noise import rows_in_cells
from dpsql.session.session import Session

SCHEMA = """\
dataset: wards
source: data
tables:
  people:
    unit: row
    columns:
      ward: {type: varchar, values: [a, b, c]}
      name: {type: varchar, max_length: 5}
      age: {type: integer, bounds: [0, 100]}
budget: {epsilon: 60, delta: 1.0e-6}
"""


@pytest.mark.parametrize(
    ("keys", "engine_keys", "expected"),
    [
        ("ward", {"g0": [2, 0, 2, 0]}, {("a",): {3: 8, 0: 6}, ("c",): {5: 7, 1: 9}}),
        ("name", {"g0": ["x", None, "x", None]}, {("x",): {5: 7, 1: 9}, (None,): {3: 8, 0: 6}}),
        (
            "name, ward",
            {"g0": [2, 0, 2, 1], "g1": ["x", "x", "x", "x"]},
            {("x", "a"): {3: 8}, ("x", "b"): {0: 6}, ("x", "c"): {5: 7, 1: 9}},
        ),
    ],
)
def test_rows_in_any_order_are_counted_in_their_groups_and_cells(
    tmp_path: Path,
    keys: str,
    engine_keys: dict[str, list[object]],
    expected: dict[tuple[object, ...], dict[int, int]],
) -> None:
    (tmp_path / "data").mkdir()
    pq.write_table(
        pa.table({"ward": ["a"], "name": ["x"], "age": [1]}), tmp_path / "data" / "people.parquet"
    )
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    session = Session(tmp_path / "schema.yaml")
    (release,) = session.compile(f"SELECT {keys}, median(age) FROM people GROUP BY {keys}").releases
    session.close()
    step = release.step
    rows = pa.table({**engine_keys, "p": [5, 3, 1, 0], "n": [7, 8, 9, 6]})
    for seed in range(10):
        order = random.Random(seed).sample(range(4), 4)
        counted = rows_in_cells(rows.take(order), step.bounded, step.query)
        assert expected == {
            key: dict(zip(own.cells.tolist(), own.counts.tolist(), strict=True))
            for key, own in counted.items()
        }
    assert rows_in_cells(rows.slice(0, 0), step.bounded, step.query) == {}
