"""Which of many cases every run tries; the seeded bugs and the long batteries try all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest


def in_turn(cases: Iterable[tuple[str, Sequence[object]]], share: int) -> list[object]:
    """Named cases for `pytest.mark.parametrize`, of which every run tries one in `share`."""
    return [
        pytest.param(*case, id=name, marks=() if turn % share == 0 else pytest.mark.in_turn)
        for turn, (name, case) in enumerate(cases)
    ]
