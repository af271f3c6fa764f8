"""What a misspelt name is asked about."""

from __future__ import annotations

import pytest

from dpsql.near_name import near_name


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("staf", ["people", "staff"], "staff"),
        ("STAF", ["people", "staff"], "staff"),
        ("ordres", ["Orders"], "Orders"),
        ("towns", ["people", "staff"], ""),
        ("staff", [], ""),
    ],
)
def test_a_near_name_is_found_in_any_case(name: str, known: list[str], near: str) -> None:
    assert near_name(name, known) == near


def test_a_name_is_near_only_where_it_is_as_like_as_is_asked() -> None:
    assert near_name("random", ["round"], 0.5) == "round"
    assert near_name("random", ["round"], 0.75) == ""
