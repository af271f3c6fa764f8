"""No text crashes: each is refused by an error of ours, or its SQL runs where no rows are.

Seeds are fixed: nothing fails by chance.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from fuzz.mutation import mutant
from fuzz.odd import IDENTIFIERS, LITERALS, MARKS, WORDS
from fuzz.outcome import runs
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_search.share import values_in_turn

CHUNK = 100
ORDINARY = int(os.environ.get("DPSQL_STATEMENTS", "500"))
LONG = int(os.environ.get("DPSQL_STATEMENTS", "50000"))

WORD = st.sampled_from(
    (*WORDS, *LITERALS, *IDENTIFIERS, *MARKS, "patients", "visits", "age", "patient_id", "ward")
)


@pytest.mark.parametrize("chunk", values_in_turn(range(-(-ORDINARY // CHUNK)), 3))
def test_mutants_are_refused_or_run(chunk: int) -> None:
    _try(Random(f"ordinary {chunk}"))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(-(-LONG // CHUNK)))
def test_mutants_are_refused_or_run_at_length(chunk: int) -> None:
    _try(Random(f"long {chunk}"))


def test_many_mutants_are_accepted() -> None:
    random = Random("acceptance")
    accepted = [sql for schema, sql in (mutant(random) for _ in range(200)) if runs(sql, schema)]
    assert len(accepted) > 20


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=200))
def test_any_text_is_refused_or_runs(text: str) -> None:
    runs(text, "clinic")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(WORD, max_size=30))
def test_any_words_are_refused_or_run(words: list[str]) -> None:
    runs(" ".join(words), "clinic")
    runs(f"SELECT {' '.join(words)} FROM patients", "clinic")


def _try(random: Random) -> None:
    for _ in range(CHUNK):
        schema, sql = mutant(random)
        try:
            runs(sql, schema)
        except Exception as fault:
            raise AssertionError(f"{type(fault).__name__}: {fault}\n{schema}: {sql!r}") from fault
