"""Figures of the chapters, slides, notebooks and papers that dpsql was built from, one by one.

What dpsql has a function for is computed by it; the rest by an independent formula or enumeration.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from literature.facts import computation, unused

for _module in ("accounting", "data", "noise", "response", "sampling", "selection", "sensitivity"):
    import_module(f"literature.{_module}_facts")

GOLDEN = Path(__file__).parent.parent.parent / "fixtures" / "founding" / "golden.json"
FIGURES: dict[str, dict[str, Any]] = json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_reproduced(name: str) -> None:
    figure = FIGURES[name]
    found = computation(name)({"name": name, **figure["given"]})
    expected = figure["value"]
    if isinstance(expected, dict):
        assert set(found) == set(expected)
        found, expected = [found[key] for key in expected], list(expected.values())
    for mine, theirs in zip(numbers(found), numbers(expected), strict=True):
        if "within" in figure:
            assert abs(mine - theirs) <= figure["within"]
        else:
            assert abs(mine - theirs) <= figure["within_relative"] * abs(theirs)


def test_every_computation_has_a_figure() -> None:
    assert not unused(list(FIGURES))


def test_a_figure_without_a_computation_fails() -> None:
    with pytest.raises(ValueError, match="unpack"):
        computation("a figure that nothing computes")


def numbers(value: Any) -> list[float]:
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value]
