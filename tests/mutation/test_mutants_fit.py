"""Each seeded bug still has its line: what was moved or rewritten is seeded anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutation.aggregate_mutants import AGGREGATE_MUTANTS
from mutation.answer_mutants import ANSWER_MUTANTS
from mutation.grammar_mutants import GRAMMAR_MUTANTS
from mutation.mutants import MUTANTS, Mutant
from mutation.relation_mutants import RELATION_MUTANTS
from mutation.split_mutants import SPLIT_MUTANTS
from mutation.synopsis_mutants import SYNOPSIS_MUTANTS

ALL = (
    *MUTANTS,
    *AGGREGATE_MUTANTS,
    *ANSWER_MUTANTS,
    *GRAMMAR_MUTANTS,
    *RELATION_MUTANTS,
    *SPLIT_MUTANTS,
    *SYNOPSIS_MUTANTS,
)

PACKAGE = Path(__file__).parent.parent.parent / "dpsql"


def test_there_are_forty_at_least() -> None:
    assert len({mutant.name for mutant in MUTANTS}) >= 40


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_a_mutants_line_is_there_once(mutant: Mutant) -> None:
    text = (PACKAGE / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.file} has changed: rewrite this mutant"
    assert mutant.new not in (mutant.old, "")
