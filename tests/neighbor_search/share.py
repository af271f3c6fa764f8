"""Which of many cases a run tries; the seeded bugs and the long batteries try all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import pytest
from notes.blocks import Claim

TURN = int(os.environ.get("DPSQL_TURN", "0"))
"""Runs of successive turns try successive shares; in `.ci/run` it is the number of commits."""

collects_all = True
"""Whether cases of other turns are collected: not where pytest would deselect them all."""


def in_both_ways(claims: Iterable[Claim], share: int) -> list[object]:
    """Each claim with keys that break and with keys that hold: with 2, a run tries one of both.

    An odd `share` tries some of both ways, and of the claims as many fewer.
    """
    return in_turn(
        (
            (f"{claim.name}-keys {'hold' if trusted else 'break'}", (claim, trusted))
            for number, claim in enumerate(claims)
            for trusted in ((False, True) if number % 2 else (True, False))
        ),
        share,
    )


def in_turn(cases: Iterable[tuple[str, Sequence[object]]], share: int) -> list[object]:
    """Named cases for `pytest.mark.parametrize`, of which a run tries one in `share`."""
    return [
        pytest.param(*case, id=name, marks=() if is_tried(number, share) else pytest.mark.in_turn)
        for number, (name, case) in enumerate(cases)
        if collects_all or is_tried(number, share)
    ]


def values_in_turn(values: Iterable[object], share: int) -> list[object]:
    """The same of values, each of which is its own name."""
    return in_turn(((str(value), (value,)) for value in values), share)


def is_tried(number: int, share: int) -> bool:
    """Whether this run tries the case of that number: in `share` turns, each is tried once."""
    return (number - TURN) % share == 0
