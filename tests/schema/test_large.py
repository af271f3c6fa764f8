"""Schemas of two thousand tables, and of lists with a hundred thousand values and more."""

from __future__ import annotations

from pathlib import Path

import pytest
from large import TABLES, VALUES, many_tables, many_values, measured

from dpsql.schema.load.load import load_schema
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.session.session import Session

MOST_MEGABYTES = 500


@pytest.mark.parametrize("tables", TABLES)
def test_many_tables_are_checked_and_asked(tmp_path: Path, tables: int) -> None:
    schema = many_tables(tmp_path, tables)
    for arguments in (("check", schema), ("query", schema, "SELECT count(*) FROM t1")):
        ended = measured(*arguments)
        assert ended.code == 0, ended.told
        assert ended.megabytes < MOST_MEGABYTES


@pytest.mark.parametrize("values", [VALUES, pytest.param(999_999, marks=pytest.mark.slow)])
def test_long_lists_of_values_are_asked(tmp_path: Path, values: int) -> None:
    session = Session(many_values(tmp_path, values))
    assert session.query("SELECT count(*) FROM t0 WHERE v = 'value 1'").table.num_rows == 1
    session.close()
    assert Session(tmp_path / "schema.yaml").query("SELECT count(*) FROM t0").table.num_rows == 1


def test_another_long_list_of_values_needs_the_owners_word(tmp_path: Path) -> None:
    before = load_schema(many_values(tmp_path, VALUES)).policy
    assert policy_relaxations(before, before) == ()
    for other in (VALUES + 1, VALUES - 1, 10):
        after = load_schema(many_values(tmp_path, other)).policy
        assert policy_relaxations(before, after) == ("values of t0.v were others",)
        assert policy_relaxations(after, before) != ()


def test_a_line_of_a_long_list_is_named(tmp_path: Path) -> None:
    path = many_values(tmp_path, 3)
    path.write_text(path.read_text().replace("value 1,", "\n value 1,\n 7,"))
    with pytest.raises(Exception, match=r"line 10, tables\.t0\.columns\.v\.values\[2\]"):
        load_schema(path)
