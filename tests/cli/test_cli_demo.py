from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from cli.cli_run import Run
from data.database import attached

from dpsql.cli.demo.data import generate


def test_the_demo_tells_its_whole_story(
    run: Run, state_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = run("demo")
    assert ended.code == 0, ended.err
    assert ended.err == ""
    assert "\x1b" not in ended.out
    assert "The difference is Ada's salary, to the last digit: 97300." in ended.out
    assert "EXPLAIN PRIVACY" in ended.out
    assert "sqlstate: 42501" in ended.out
    assert "hint: " in ended.out
    assert "cost: nothing to the dataset, answered before" in ended.out
    assert "SHOW dpsql.budget" in ended.out
    totals = re.findall(r"dpsql> SELECT sum\(salary\) FROM staff\n.*\n.*\n *(\d+)", ended.out)
    assert len(totals) == 2
    assert totals[0] == totals[1]
    assert not state_folder.exists()
    assert not list(tmp_path.glob("dpsql-demo-*"))


def test_the_recipe_makes_the_same_tables_everywhere(tmp_path: Path) -> None:
    generate(tmp_path / "data")
    with attached() as connection:
        found = {
            name: connection.execute(
                f"SELECT {what} FROM '{tmp_path}/data/{name}.parquet'"
            ).fetchall()
            for name, what in {
                "staff": "count(*), count(DISTINCT person_id), sum(salary), min(born), max(salary)",
                "sick_leave": "count(*), count(DISTINCT person_id), sum(days), max(days)",
                "departments": "count(*)",
            }.items()
        }
        one = connection.execute(
            f"SELECT count(*) FROM '{tmp_path}/data/staff.parquet' WHERE born < 1950"
        ).fetchall()
    assert found["departments"] == [(6,)]
    assert found["staff"] == [(20000, 20000, 1377438833, 1948, 109756)]
    assert found["sick_leave"][0][:2] == (40000, 20000)
    assert one == [(1,)]
