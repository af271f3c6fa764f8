"""The table of aggregates is current, and a note that is attacked shows each of them."""

from __future__ import annotations

import re

import pytest
from documentation.pages import check_table
from notes.aggregate_table import ROWS, table
from notes.blocks import accepted

from dpsql.plan.aggregate import (
    ARGUMENTS_OF_EXTREMES,
    NO_FUNCTION_OF_SQL,
    AggregateFunction,
)


def test_the_readme_has_the_table(request: pytest.FixtureRequest) -> None:
    check_table(request, "aggregate-table", table())


@pytest.mark.parametrize(
    "function",
    # Of private rows they are refused: they are one unit's own value.
    [f for f in AggregateFunction if f not in ARGUMENTS_OF_EXTREMES | NO_FUNCTION_OF_SQL],
    ids=lambda function: function.value,
)
def test_the_table_has_every_aggregate_of_private_rows(function: AggregateFunction) -> None:
    assert re.search(rf"`{function.value}\b", table())


@pytest.mark.parametrize("name", [name for row in ROWS for name in row.names])
def test_the_neighbour_search_attacks_it_in_a_note_on_aggregates(name: str) -> None:
    queries = [c.sql.lower() for c in accepted() if c.note.stem.startswith("aggregate_")]
    assert any(name.lower() in sql for sql in queries)
