"""Of decimals with many digits after the point, no row changes a sum by more than its bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from data.database import attached

from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session

SCHEMA = """
dataset: dust
source: dust.duckdb
tables:
  grains:
    unit: row
    columns:
      weight: {{type: "decimal(38,{scale})", bounds: [0, {most}]}}
budget: {{epsilon: 1}}
"""


@pytest.mark.parametrize("scale", [20, 30, 36, 38])
@pytest.mark.parametrize("fewer", [0, 9, 99, 10_000])
def test_no_row_changes_a_sum_by_more_than_its_bound(
    tmp_path: Path, scale: int, fewer: int
) -> None:
    """With `scale` 30, a hundred of the heaviest grains were 10^8 steps, which were taken for 0."""
    heaviest = f"0.{10**6:0{scale}}"
    (tmp_path / "schema.yaml").write_text(SCHEMA.format(scale=scale, most=heaviest))
    source = str(tmp_path / "dust.duckdb")
    with attached(source) as connection:
        connection.execute(f"CREATE TABLE grains (weight DECIMAL(38, {scale}))")
        connection.execute(f"INSERT INTO grains SELECT {heaviest} FROM range({fewer})")
    session = Session(load_schema(tmp_path / "schema.yaml"))
    (release,) = session.compile("SELECT sum(weight) FROM grains").releases
    session.close()
    with attached(source) as connection:
        (before,) = connection.execute(release.step.query.sql).fetchall()[0]
        connection.execute(f"INSERT INTO grains VALUES ({heaviest})")
        (after,) = connection.execute(release.step.query.sql).fetchall()[0]
    assert abs(after - before) <= release.sensitivity.per_group[0]
    assert after == (fewer + 1) * 10**6
