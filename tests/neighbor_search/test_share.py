"""No case waits longer for its turn than there are shares."""

from __future__ import annotations

from typing import Any, cast

import pytest
from neighbor_search import share

CASES = [(str(number), (number,)) for number in range(10)]


def tried(monkeypatch: pytest.MonkeyPatch, turn: int, of: int) -> list[int]:
    monkeypatch.setattr(share, "TURN", turn)
    params = cast("list[Any]", share.in_turn(CASES, of))
    return [param.values[0] for param in params if not param.marks]


@pytest.mark.parametrize("of", [1, 3, 4, 10])
def test_successive_turns_try_each_case_once(monkeypatch: pytest.MonkeyPatch, of: int) -> None:
    found = [case for turn in range(1_000, 1_000 + of) for case in tried(monkeypatch, turn, of)]
    assert sorted(found) == list(range(10))


def test_a_turn_is_tried_again_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, 5, 3) == tried(monkeypatch, 5, 3) == [2, 5, 8]


def test_cases_of_other_turns_are_marked_or_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share, "TURN", 0)
    monkeypatch.setattr(share, "collects_all", True)
    assert len(share.in_turn(CASES, 3)) == 10
    monkeypatch.setattr(share, "collects_all", False)
    assert len(share.in_turn(CASES, 3)) == 4
