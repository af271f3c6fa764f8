"""The neighbour search is tested too: every seeded bug makes it fail.

pytest tests/mutation -m mutation            all of them, some minutes
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mutation.all_mutants import ALL
from mutation.mutants import Mutant

ROOT = Path(__file__).parent.parent.parent

KILLED = re.compile(
    r"AssertionError: (groups \[|statistic \d|joint L|other integers than )"
    r"|DID NOT RAISE|a split takes a positive loss"
    r"|AssertionError: a hostile row decides about|fails: database \d|UnicodeDecodeError"
    r"|release/noise_choice/(noise_candidate|expected_error)\.py:\d+: ZeroDivisionError"
)
"""A bound that is passed, a query that isn't refused, or a sensitivity of 0, to which no noise is
added, or other sums by way of a sidecar or of parts of the units, or a statement that fails for one
row: not any failure will do."""

pytestmark = [pytest.mark.mutation]


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_the_neighbour_search_kills(mutant: Mutant, tmp_path: Path) -> None:
    unwanted = shutil.ignore_patterns(".*", "*.parquet", "*.egg-info")
    shutil.copytree(ROOT, tmp_path, ignore=unwanted, dirs_exist_ok=True)
    mutated = tmp_path / "dpsql" / mutant.file
    text = mutated.read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.file} has changed: rewrite this mutant"
    mutated.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-m",
        "not slow" if mutant.fails_by else "bounds and not slow",
        mutant.tests,
        "-k",
        mutant.about,
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        # In any other order another query may fail first, and not by a bound.
        "-p",
        "no:randomly",
    ]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    found = subprocess.run(  # a mutant that hangs is killed too
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert found.returncode == 1, found.stdout[-2000:]
    fails_by = re.compile(mutant.fails_by) if mutant.fails_by else KILLED
    assert fails_by.search(found.stdout), found.stdout[-2000:]
