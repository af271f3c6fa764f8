"""The walk of a new user, command by command: init, a few decisions, check, a first answer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

SECONDS = 300
"""What the whole walk may take, on a machine that does other work, too."""

PLANES, FLIGHTS = 60, 6000


def dpsql(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dpsql.cli", *arguments],
        cwd=folder,
        env=os.environ | {"DPSQL_STATE": str(folder / "state")},
        capture_output=True,
        text=True,
        check=False,
    )


def decide(schema: Path, decisions: Mapping[str, str]) -> None:
    """Edit a draft as its owner does: each text stands in it once."""
    text = schema.read_text("utf-8")
    for draft, decision in decisions.items():
        assert text.count(draft) == 1, draft
        text = text.replace(draft, decision)
    schema.write_text(text, "utf-8")


def flights(folder: Path) -> dict[str, str]:
    """Files as a spreadsheet writes them, and what their owner decides: planes are the units."""
    random = Random(7)
    tails = [f"N{n:03}" for n in range(PLANES)]
    lines = ["Tail Number;Op.Carrier;from city;dep delay"] + [
        f"{random.choice(tails)};{random.choice(['AA', 'B6'])};"
        f"{random.choice(['Zürich', 'Málaga'])};{random.randint(-20, 120)}"
        for _ in range(FLIGHTS)
    ]
    (folder / "flights.csv").write_bytes("\r\n".join([*lines, ""]).encode("latin-1"))
    planes = ["Tail Number,seats", *(f"{tail},{100 + n}" for n, tail in enumerate(tails)), ""]
    (folder / "planes.csv").write_bytes("\n".join(planes).encode("utf-8-sig"))
    undecided = """    # unit: KIND  # of those declared under units, found by their key
    # unit: {column: COLUMN, references: TABLE.KEY}  # of those it references
    # unit: row  # each row is a unit of its own
    # public: true  # nobody's: answered exactly, and free
    # limits: {groups: 8, rows_per_group: 8, rows: 64}  # what one unit may add
"""
    return {
        "# units:  # decide: whose presence is hidden\n#   person: {table: TABLE, key: COLUMN}": (
            "units:\n  plane: {table: planes, key: Tail_Number}"
        ),
        f"first lines look\n    # decide: whose rows are these?\n{undecided}": (
            "first lines look\n    unit: {column: Tail_Number, references: planes.Tail_Number}\n"
        ),
        f"  planes:\n    # decide: whose rows are these?\n{undecided}": (
            "  planes:\n    unit: plane\n    key: Tail_Number\n"
        ),
        'source_name: "from city"}': 'source_name: "from city", values: [Zürich, Málaga]}',
        'source_name: "dep delay"}': 'source_name: "dep delay", bounds: [-60, 600]}',
        "budget: {epsilon: 1,": "budget: {epsilon: 10,",
        "per_query: {epsilon: 0.1}": "per_query: {epsilon: 2}",
    }


def penguins(folder: Path) -> dict[str, str]:
    """A published file as it is, and what its owner decides: each row is a unit."""
    package = find_spec("palmerpenguins")
    assert package is not None
    assert package.origin is not None
    published = Path(package.origin).with_name("data") / "penguins.csv"
    (folder / "penguins.csv").write_bytes(published.read_bytes())
    return {
        "    # unit: row  # each row is a unit of its own": "    unit: row",
        "species: {type: varchar}": "species: {type: varchar, values: [Adelie, Chinstrap, Gentoo]}",
        "body_mass_g: {type: bigint}": "body_mass_g: {type: bigint, bounds: [2000, 7000]}",
        "budget: {epsilon: 1,": "budget: {epsilon: 10,",
        "per_query: {epsilon: 0.1}": "per_query: {epsilon: 2}",
    }


WALKS = {
    "flights": (
        flights,
        "SELECT from_city, count(*) AS n, avg(dep_delay) AS d FROM flights GROUP BY from_city",
        "flights: by default at most 8 rows of a unit count in each group;",
    ),
    "penguins": (
        penguins,
        "SELECT species, count(*) AS n, avg(body_mass_g) AS mass FROM penguins GROUP BY species",
        "",
    ),
}


@pytest.mark.parametrize("name", WALKS)
def test_a_new_user_has_an_answer_within_minutes(tmp_path: Path, name: str) -> None:
    write, sql, limit = WALKS[name]
    (tmp_path / "data").mkdir()
    decisions = write(tmp_path / "data")
    began = time.monotonic()
    drafted = dpsql(tmp_path, "init", "data", "--sample", "1000")
    assert drafted.returncode == 0, drafted.stderr
    undecided = dpsql(tmp_path, "check", "schema.yaml")
    assert undecided.returncode == 1
    assert undecided.stderr.startswith("error: ")
    decide(tmp_path / "schema.yaml", decisions)
    checked = dpsql(tmp_path, "check", "schema.yaml")
    assert checked.returncode == 0, checked.stderr
    answered = dpsql(tmp_path, "query", "schema.yaml", "--errors", sql)
    assert answered.returncode == 0, answered.stderr
    assert time.monotonic() - began < SECONDS
    head, _, *rows = answered.stdout.splitlines()
    assert head.count("±") == 2
    assert len(rows) >= 2
    assert limit in answered.stderr
    assert ("by default" in answered.stderr) is bool(limit)
    assert ("leaves out" in checked.stdout) is bool(limit)
