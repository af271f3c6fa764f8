"""Totals of few rows, which no array is made of, are those of the same rows as a table."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from notes.compiler import prepared

from dpsql.engine.raw import IntegerColumns, as_table
from dpsql.release.add_noise import all_totals
from dpsql.release.job import Step
from dpsql.structs import replace


@pytest.fixture(scope="module")
def step() -> Step:
    """One that counts rows by two wards and three more."""
    sql = "SELECT ward, count(*) FROM visits GROUP BY ward"
    step = prepared(sql, "clinic", frozenset()).releases[0].step
    (domain,) = step.query.domains
    domains = [replace(domain, name=f"d{count}", cells=domain.cells[:count]) for count in (2, 3)]
    return replace(step, query=replace(step.query, domains=tuple(domains)))


@pytest.mark.parametrize(
    "rows",
    [
        {"g0": (), "g1": (), "s0": ()},
        {"g0": (1,), "g1": (2,), "s0": (7,)},
        {"g0": (1, 0, 1), "g1": (0, 2, 1), "s0": (-3, None, 5)},
        {"g0": (0, 1), "g1": (1, 2), "s0": (2**70, -(2**63))},
    ],
)
def test_totals_of_few_rows_are_those_of_their_table(step: Step, rows: IntegerColumns) -> None:
    few, all_rows = (all_totals(each, step.bounded, step.query) for each in (rows, as_table(rows)))
    assert [column.tolist() for column in few] == [column.tolist() for column in all_rows]
    assert [column.dtype for column in few] == [column.dtype for column in all_rows]
    assert few[0].size == 6


@pytest.mark.parametrize("value", [1.0, True, Decimal(1)])
def test_what_is_no_integer_is_no_total(step: Step, value: Any) -> None:
    with pytest.raises(TypeError):
        all_totals({"g0": (0,), "g1": (0,), "s0": (value,)}, step.bounded, step.query)


def test_a_row_without_a_cell_has_no_totals(step: Step) -> None:
    rows = {"g0": (0, None), "g1": (0, 1), "s0": (1, 1)}
    with pytest.raises(ValueError, match="zip"):
        all_totals(rows, step.bounded, step.query)
