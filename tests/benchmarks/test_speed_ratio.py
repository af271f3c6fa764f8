"""A private answer takes so many times as long as a plain one: a ratio within one run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.fixed import fixed_costs
from benchmarks.picture import picture
from benchmarks.shapes import queries
from benchmarks.speed import geometric_means, measure, schema_over
from benchmarks.two_commits import medians, plot, side_by_side

from dpsql.session.sidecar import open_source

MOST = 12
"""Far above what is usual, so that a busy machine does not fail it."""


def test_answers_of_tpch_take_no_more_than_so_many_times_as_long(
    tpch_folder: Path, tmp_path: Path
) -> None:
    schema = schema_over(tpch_folder, tmp_path)
    with open_source(schema) as engine:
        found = measure(schema, engine, runs=1, only="segment,Q1,Q6,Q12,Q14,Q22")
    assert [r.name for r in found] == ["segment", "Q1", "Q6", "Q12", "Q14", "Q22"]
    for means in geometric_means(found).values():
        assert set(means) == {"engine", "whole", "whole, another ε"}
        assert means["engine"] < MOST, found
    ratios = {r.name: {"ratio": r.ratio} for r in found}
    assert "Q14" in picture({"as it is": ratios, "prepared": ratios})


def test_a_stored_answer_takes_a_small_part_of_a_new_one(tmp_path: Path) -> None:
    found = fixed_costs(tmp_path, times=5)
    assert 4 * found["stored"] < found["whole"], found
    stages = {"parse", "prove", "rewrite", "calibrate", "charge", "engine", "noise", "keep"}
    assert stages < found.keys()


def test_every_private_query_of_tpch_is_measured() -> None:
    assert sum(name[1:].isdigit() for name in queries()) == 16


@pytest.fixture(autouse=True)
def environment(state_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `schema_over` sets is undone."""
    monkeypatch.setenv("DPSQL_STATE", str(state_folder))


def test_a_smaller_ratio_has_a_shorter_bar() -> None:
    ratios = {name: {"ratio": ratio} for name, ratio in {"a": 0.2, "b": 1.0, "c": 5.0}.items()}
    drawn = picture({"as it is": ratios, "prepared": ratios})
    lengths = [float(bar) for bar in re.findall(r'<rect x="90" y="\d+" width="([\d.]+)"', drawn)]
    assert lengths[0] < lengths[2] < lengths[4]
    assert "prefers-color-scheme:dark" in drawn


def test_two_commits_stand_side_by_side_and_a_tenth_more_is_marked() -> None:
    rounds = [
        {"as it is": {"Q1": ratio, "Q6": 1.0}, "prepared": {"Q1": 1.0, "Q6": 1.0}}
        for ratio in (2.0, 9.0, 1.0)
    ]
    before = medians(rounds)
    after = {"as it is": {"Q1": 2.3, "Q6": 1.05}, "prepared": {"Q1": 0.5, "Q6": 1.0}}
    lines = side_by_side("time", {"baseline": before, "last": after}).splitlines()
    assert lines[2] == "| Q1 | as it is | 2.00 | 2.30 | 1.15 **more** |"
    assert [line for line in lines if "more" in line] == [lines[2]]
    drawn = plot({"baseline": before, "last": after})
    assert "Q1, p." in drawn
    assert drawn.count('height="10"') == 2 * 4 + 2  # bars, and what they are called
