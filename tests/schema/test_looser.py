from __future__ import annotations

from pathlib import Path

import pytest
from schema.shop import SHOP, changed, load

from dpsql.schema.policy_diff import policy_relaxations

CAPPED = SHOP.replace(
    "delta: 1e-6}", "delta: 1e-6}\ngroup_size: 2\nanalysts: {al: {epsilon: 0.5}}"
).replace("{type: uuid}", "{type: uuid}\n      note: {type: varchar, max_length: 80}")

LOOSER = [
    ("bounds: [0, 120]", "bounds: [0, 121]", "bounds of people.age were [0, 120], now [0, 121]"),
    ("bounds: [0, 120]", "bounds: [-1, 120]", "bounds of people.age were [0, 120], now [-1, 120]"),
    (", bounds: [0, 120]", "", "bounds of people.age were [0, 120], now none"),
    ("2025-12-31]", "2026-12-31]", "bounds of people.born were"),
    ("values: [F, M]", "values: [F, M, X]", "values of people.sex were fewer"),
    (", values: [F, M]", "", "values of people.sex were listed"),
    ("max_length: 80", "max_length: 81", "max_length of people.note was 80, now 81"),
    (", max_length: 80", "", "max_length of people.note was 80, now none"),
    ("age: {type: integer", "age: {type: bigint", "type of people.age was another"),
    (
        "age: {type: integer",
        "age: {source_name: x, type: integer",
        "source_name of people.age was another",
    ),
    (", references: towns.town_id", "", "references of orders.town was another"),
    ("{groups: 3}", "{groups: 4}", "limits.groups of orders was 3, now 4"),
    ("{groups: 3}", "{groups: 3, rows: 65}", "limits.rows of orders was 64, now 65"),
    ("epsilon: 1,", "epsilon: 1.1,", "budget.epsilon was 1, now 1.1"),
    ("delta: 1e-6}", "delta: 1e-5}", "budget.delta was 1e-06, now 1e-05"),
    ("    unit: row", "    public: true", "the rows of readings were owned otherwise"),
    ("tag: {type: uuid}", "tag: {type: uuid}\n      m: {type: date}", "column people.m is new"),
    ("budget:", "  more: {public: true}\nbudget:", "table more is new"),
    ("{al: {epsilon: 0.5}}", "{al: {epsilon: 0.6}}", "had a cap of epsilon 0.5, now 0.6"),
    ("analysts: {al: {epsilon: 0.5}}", "", "analyst al had a cap of epsilon 0.5, now none"),
    ("group_size: 2", "group_size: 1", "group_size was 2, now 1"),
    ("group_size: 2", "group_size: 3", ""),  # for its ledger to refuse
    ("analysts:", "per_query: {max_epsilon: 1}\nanalysts:", ""),
    (
        "analysts:",
        "per_query: {max_rows: 10000001}\nanalysts:",
        "per_query.max_rows was 10000000, now 10000001",
    ),
    (
        "analysts:",
        "per_query: {max_megabytes: 1001}\nanalysts:",
        "per_query.max_megabytes was 1000, now 1001",
    ),
]


@pytest.mark.parametrize(("old", "new", "words"), LOOSER, ids=[new.strip() for _, new, _ in LOOSER])
def test_what_became_looser_is_said(tmp_path: Path, old: str, new: str, words: str) -> None:
    before, after = (load(tmp_path, text) for text in (CAPPED, changed(old, new, CAPPED)))
    found = "; ".join(policy_relaxations(before.policy, after.policy))
    assert words in found
    assert bool(words) == bool(found)


ORDERED = [case for case in LOOSER if "was another" not in case[2] and "size: 3" not in case[1]]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    ORDERED,
    ids=[new.strip() for _, new, _ in ORDERED],
)
def test_the_way_back_needs_nobody(tmp_path: Path, old: str, new: str, words: str) -> None:
    before, after = (load(tmp_path, text) for text in (CAPPED, changed(old, new, CAPPED)))
    if "owned otherwise" in words:
        assert policy_relaxations(after.policy, before.policy)
    else:
        assert policy_relaxations(after.policy, before.policy) == ()


def test_values_of_which_some_are_gone_were_others(tmp_path: Path) -> None:
    before, after = (load(tmp_path, text) for text in (CAPPED, changed("[F, M]", "[F, X]", CAPPED)))
    assert "values of people.sex were others" in policy_relaxations(before.policy, after.policy)


def test_a_per_query_cap_that_is_raised_is_looser(tmp_path: Path) -> None:
    low, high = (
        load(tmp_path, SHOP + f"per_query: {{max_epsilon: {most}}}\n") for most in ("0.5", "0.75")
    )
    assert policy_relaxations(low.policy, high.policy) == (
        "per_query.max_epsilon was 0.5, now 0.75",
    )
