"""Which of many cases every run tries; the others are left to the long batteries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def in_turn(cases: Iterable[tuple[str, Sequence[Any]]], share: int) -> list[ParameterSet]:
    """Named cases for `pytest.mark.parametrize`; but one in `share`, all are marked as slow."""
    return [
        pytest.param(*case, id=name, marks=() if turn % share == 0 else pytest.mark.slow)
        for turn, (name, case) in enumerate(cases)
    ]
