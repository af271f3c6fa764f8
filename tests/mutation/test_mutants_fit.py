"""Each seeded bug still has its line: what was moved or rewritten is seeded anew."""

from __future__ import annotations

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
