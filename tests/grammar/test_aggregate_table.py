"""The README's table of aggregates is current, and a note that is attacked shows each of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from grammar.aggregate_table import ROWS, table
from grammar.notes import accepted

from dpsql.plan.aggregate import ARGUMENTS_OF_EXTREMES, AggregateFunction

README = Path(__file__).parent.parent.parent / "README.md"
BEGIN, END = "<!-- aggregate-table:begin -->", "<!-- aggregate-table:end -->"


def test_the_readme_has_the_table(request: pytest.FixtureRequest) -> None:
    text = README.read_text(encoding="utf-8")
    current = re.sub(
        f"{BEGIN}\n.*?{END}", lambda _: f"{BEGIN}\n{table()}{END}", text, flags=re.DOTALL
    )
    if request.config.getoption("--update-readme"):
        assert "CI" not in os.environ
        README.write_text(current, encoding="utf-8")
    else:
        assert BEGIN in text
        assert text == current, f"run pytest --update-readme {request.node.nodeid}"


@pytest.mark.parametrize(
    "function",
    # Of private rows they are refused: they are one unit's own value.
    [f for f in AggregateFunction if f not in ARGUMENTS_OF_EXTREMES],
    ids=lambda function: function.value,
)
def test_the_table_has_every_aggregate_of_private_rows(function: AggregateFunction) -> None:
    assert re.search(rf"`{function.value}\b", table())


@pytest.mark.parametrize("name", [name for row in ROWS for name in row.names])
def test_the_neighbour_search_attacks_it_in_a_note_on_aggregates(name: str) -> None:
    queries = [c.sql.lower() for c in accepted() if c.note.stem.startswith("aggregate_")]
    assert any(name.lower() in sql for sql in queries)
