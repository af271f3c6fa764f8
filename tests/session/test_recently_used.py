"""What was unused longest is forgotten first."""

from __future__ import annotations

from dpsql.session.compile.proofs.recently_used import RecentlyUsed


def test_the_value_that_was_unused_longest_is_forgotten() -> None:
    values: RecentlyUsed[str, int] = RecentlyUsed(2)
    values.put("a", 1)
    values.put("b", 2)
    assert values.get("a") == 1
    values.put("c", 3)
    assert [values.get(key) for key in "abc"] == [1, None, 3]
    values.put("a", 4)
    values.put("d", 5)
    assert [values.get(key) for key in "acd"] == [4, None, 5]
