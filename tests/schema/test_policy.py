from __future__ import annotations

from pathlib import Path

import pytest
from schema.shop import SHOP, changed, load

from dpsql.schema.policy import policy_hash, policy_text
from dpsql.structs import replace

LOOSER = [
    ("bounds: [0, 120]", "bounds: [0, 121]"),
    ("values: [F, M]", "values: [F, M, X]"),
    ("age: {type: integer", "age: {type: bigint"),
    ("{groups: 3}", "{groups: 4}"),
    ("{groups: 3}", "{groups: 3, rows: 65}"),
    ("epsilon: 1,", "epsilon: 1.1,"),
    ("delta: 1e-6", "delta: 1e-5"),
    ("delta: 1e-6", "delta: 1e-6, accounting: approx"),
    ("delta: 1e-6}", "delta: 1e-6}\nneighbors: change_one"),
    ("delta: 1e-6}", "delta: 1e-6}\ngroup_size: 2"),
    ("delta: 1e-6}", "delta: 1e-6}\nper_query: {max_epsilon: 0.5}"),
    ("delta: 1e-6}", "delta: 1e-6}\nper_query: {epsilon: 0.2}"),
    ("delta: 1e-6}", "delta: 1e-6}\nper_query: {max_rows: 5}"),
    ("delta: 1e-6}", "delta: 1e-6}\nanalysts: {al: {epsilon: 1}}"),
    ("dataset: shop", "dataset: shop2"),
    ("    unit: row", "    public: true"),
    ("  lines:\n", "  lines:\n    key: order_id\n"),
    ("town_id: {type: integer}", "town_id: {type: integer, nullable: false}"),
    (", references: towns.town_id", ""),
    ("tag: {type: uuid}", "tag: {type: uuid}\n      more: {type: date}"),
]


@pytest.mark.parametrize(("old", "new"), LOOSER, ids=[new.strip() for _, new in LOOSER])
def test_another_policy_has_another_hash(tmp_path: Path, old: str, new: str) -> None:
    assert load(tmp_path, changed(old, new)).policy_hash != load(tmp_path).policy_hash


SAME = [
    ("dataset: shop", "# a comment\ndataset: 'shop'"),
    ("bounds: [0, 120]", "bounds: [ 0, +120 ]"),
    ("bounds: [0, 0.1]", "bounds: [-0.0, 1e-1]"),
    ("age: {type: integer", "age: {type: INT"),
    ("values: [F, M]", "values: [M, F]"),
    ("epsilon: 1,", "epsilon: 1.000,"),
    ("delta: 1e-6", "delta: 0.000001, accounting: zcdp"),
    ("{groups: 3}", "{groups: 3, rows: 64}"),
    ("delta: 1e-6}", "delta: 1e-6}\nversion: 7"),
    ("delta: 1e-6}", "delta: 1e-6}\nspill: {gigabytes: 7}"),
    ("delta: 1e-6}", "delta: 1e-6}\nper_query: {max_rows: 10000000, max_megabytes: 1000}"),
    ("delta: 1e-6}", "delta: 1e-6}\nledger: elsewhere.db"),
    ("source: data", "source: other"),
    ("    unit: row", "    unit: row\n    comment: from the roof"),
]


@pytest.mark.parametrize(("old", "new"), SAME, ids=[new.strip() for _, new in SAME])
def test_the_same_policy_has_the_same_hash(tmp_path: Path, old: str, new: str) -> None:
    assert load(tmp_path, changed(old, new)).policy_hash == load(tmp_path).policy_hash


def test_the_order_of_columns_does_not_matter(tmp_path: Path) -> None:
    first, second = "      tag: {type: uuid}\n", "      id: {type: bigint}\n"
    text = SHOP.replace(first, "").replace(second, first + second, 1)
    schema = load(tmp_path, text)
    assert next(iter(schema.tables["people"].columns)) == "tag"
    assert schema.policy_hash == load(tmp_path).policy_hash


def test_the_hash_is_not_part_of_itself(tmp_path: Path) -> None:
    schema = load(tmp_path)
    changed = replace(schema, policy="x", policy_hash="x")
    assert policy_hash(policy_text(changed)) == schema.policy_hash
