"""Each seeded bug still has its line: what was moved or rewritten is seeded anew."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mutation.all_mutants import ALL
from mutation.mutants import MUTANTS, Mutant

PACKAGE = Path(__file__).parent.parent.parent / "dpsql"


def test_there_are_forty_at_least() -> None:
    assert len({mutant.name for mutant in MUTANTS}) >= 40


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_a_mutants_line_is_there_once(mutant: Mutant) -> None:
    text = (PACKAGE / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.file} has changed: rewrite this mutant"
    assert mutant.new not in (mutant.old, "")


def test_a_mutant_has_no_name_that_is_nowhere(tmp_path: Path) -> None:
    """A NameError would fail a test as well as the seeded bug, which nothing finds then."""
    for number, mutant in enumerate(ALL):
        text = (PACKAGE / mutant.file).read_text(encoding="utf-8")
        mutated = text.replace(mutant.old, mutant.new)
        (tmp_path / f"mutant_{number}.py").write_text(mutated, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821"]
    checked = subprocess.run([*ruff, str(tmp_path)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
