"""What the engine and the noise are given of a long list of keys is made of it once."""

from __future__ import annotations

import pytest
from notes.compiler import prepared

from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.bounded_release.engine_query import DomainTable
from dpsql.release.columns import group_keys
from dpsql.release.columns.group_keys import domain_table, listed_keys
from dpsql.schema.sql_type import BIGINT, Integer, SqlType
from dpsql.structs import replace

COUNT = 2_000


def numbers(first: int, count: int = COUNT) -> tuple[Cell, ...]:
    return tuple((number,) for number in range(first, first + count))


def domain(cells: tuple[Cell, ...], kind: SqlType = BIGINT) -> DomainTable:
    return DomainTable("domain_0", (kind,), cells)


def test_one_list_is_one_table() -> None:
    cells = numbers(0)
    table = domain_table(domain(cells))
    assert domain_table(replace(domain(cells), name="domain_1")) is table
    assert table.column("k0").to_pylist() == list(range(COUNT))


def test_another_list_is_another_table() -> None:
    cells, others = numbers(0), numbers(5)
    domain_table(domain(cells))
    assert domain_table(domain(others)).column("k0").to_pylist() == [cell[0] for cell in others]
    assert domain_table(domain(cells)).column("k0").to_pylist() == [cell[0] for cell in cells]


def test_a_list_of_another_type_is_another_table() -> None:
    cells = numbers(0)
    wide, narrow = (domain_table(domain(cells, kind)) for kind in (BIGINT, Integer(16)))
    assert wide.column("k0").type != narrow.column("k0").type


def test_a_list_that_is_too_long_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_keys, "_LONGEST", COUNT - 1)
    cells = numbers(0)
    first, second = (domain_table(domain(cells)) for _ in range(2))
    assert first is not second
    assert first == second


def test_listed_keys_are_those_of_the_list_of_their_release() -> None:
    sql = "SELECT ward, count(*) FROM visits GROUP BY ward"
    (release,) = prepared(sql, "clinic", frozenset()).releases
    bounded, query = release.step.bounded, release.step.query
    for cells in (numbers(0), numbers(7), numbers(7)[::-1]):
        asked = replace(query, domains=(domain(cells),))
        keys = listed_keys(bounded, asked)
        assert listed_keys(bounded, asked) is keys
        assert keys.by_number[0].to_pylist() == [cell[0] for cell in cells]
        assert keys.ordered[0].to_pylist() == sorted(keys.by_number[0].to_pylist())
        assert not keys.order.flags.writeable
