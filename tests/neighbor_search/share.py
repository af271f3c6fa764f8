"""Which of many cases every run tries; the seeded bugs and the long batteries try all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from notes.blocks import Claim

collects_all = True
"""Whether cases of other turns are collected: not where pytest would deselect them all."""


def in_both_ways(claims: Iterable[Claim], share: int = 2) -> list[object]:
    """Each claim with keys that break and with keys that hold: every run tries one of both.

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
    """Named cases for `pytest.mark.parametrize`, of which every run tries one in `share`."""
    return [
        pytest.param(*case, id=name, marks=() if turn % share == 0 else pytest.mark.in_turn)
        for turn, (name, case) in enumerate(cases)
        if collects_all or turn % share == 0
    ]
