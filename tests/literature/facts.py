"""Which function computes which figure of fixtures/founding/golden.json."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

Given = dict[str, Any]
Computation = Callable[[Given], Any]

_COMPUTATIONS: dict[str, Computation] = {}


def fact(*patterns: str) -> Callable[[Computation], Computation]:
    """The function computes the figures whose names match, from what is given with them."""

    def register(computation: Computation) -> Computation:
        for pattern in patterns:
            assert pattern not in _COMPUTATIONS, f"{pattern} is computed twice"
            _COMPUTATIONS[pattern] = computation
        return computation

    return register


def computation(name: str) -> Computation:
    """The one function for this figure."""
    (found,) = [c for pattern, c in _COMPUTATIONS.items() if fnmatchcase(name, pattern)]
    return found


def unused(names: list[str]) -> list[str]:
    return [p for p in _COMPUTATIONS if not any(fnmatchcase(name, p) for name in names)]
