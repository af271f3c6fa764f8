"""Seconds until `dpsql --help` and a first answer are there, printed beside what they should be.

The aim on two cores is 0.3 s for the help and 1 s for a first query. Run with `-m slow -s`;
nothing is asserted of time, since other work of the machine only ever adds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import pytest

from dpsql.cli.demo.data import generate

RUNS = 5
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Where this is set, every module would be compiled each time; installed ones never are."""

COUNT = "SELECT department, count(*) FROM staff WHERE born > {} GROUP BY department"


def seconds(*arguments: object) -> float:
    """The best of several runs; {} in an argument becomes another number each time."""
    best = float("inf")
    for run in range(RUNS):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "dpsql.cli", *(str(a).format(1950 + run) for a in arguments)],
            check=True,
            capture_output=True,
            env={name: value for name, value in os.environ.items() if name != NO_BYTECODE},
        )
        best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.slow
def test_the_help_is_there_at_once() -> None:
    print(f"\ndpsql --help: {seconds('--help'):.2f} s, to be 0.3 s")  # noqa: T201


@pytest.mark.slow
def test_a_first_query_is_answered_soon(tmp_path: Path) -> None:
    generate(tmp_path / "data")
    path = tmp_path / "schema.yaml"
    path.write_text(files("dpsql.cli.demo").joinpath("schema.yaml").read_text(encoding="utf-8"))
    best = seconds("query", path, COUNT, "--epsilon", "0.01")
    print(f"\ndpsql query: {best:.2f} s, to be 1 s")  # noqa: T201
