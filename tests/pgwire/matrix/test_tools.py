"""What BI tools ask in their own words is answered as PostgreSQL answers it, or refused aloud."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from documentation.pages import check_table
from neighbor_search.share import values_in_turn
from pgwire.matrix.tools import TOOLS, Statement, answer, names_by_oid, statements
from pgwire.matrix.two_servers import Servers

STATEMENTS = [statement for tool in TOOLS for statement in statements(tool)]
HEAD = """| tool | statements | rows of PostgreSQL | rows but for noise | refused with a SQLSTATE |
| --- | ---: | ---: | ---: | ---: |
"""


@pytest.fixture(scope="module")
def connections(servers: Servers) -> Iterator[list[Any]]:
    psycopg = pytest.importorskip("psycopg")
    with (
        psycopg.connect(servers.dsn(servers.ours), autocommit=True) as ours,
        psycopg.connect(servers.dsn(servers.theirs), autocommit=True) as theirs,
    ):
        yield [ours, theirs]


@pytest.mark.parametrize("statement", values_in_turn(STATEMENTS, 3))
def test_a_tool_reads_the_same_of_both_servers(
    connections: list[Any], statement: Statement
) -> None:
    psycopg = pytest.importorskip("psycopg")
    names = [names_by_oid(connection) for connection in connections]
    if statement.kind == "refused":
        with pytest.raises(psycopg.Error) as refusal:
            answer(connections[0], statement.sql, names[0])
        assert refusal.value.sqlstate == statement.word
        return
    ours, theirs = (
        answer(connection, statement.sql, known)
        for connection, known in zip(connections, names, strict=True)
    )
    if statement.kind == "but":
        ours, theirs = ours.without(statement.word), theirs.without(statement.word)
    assert ours.matches(theirs, noisy=statement.kind == "noisy"), (ours, theirs)


def test_a_page_has_the_tally(request: pytest.FixtureRequest) -> None:
    lines = []
    for tool, name in (*TOOLS.items(), ("", "all")):
        listed = [statement for statement in STATEMENTS if tool in ("", statement.tool)]
        kinds = Counter(statement.kind for statement in listed)
        equal = kinds["equal"] + kinds["but"]
        lines.append(
            f"| {name} | {len(listed)} | {equal} | {kinds['noisy']} | {kinds['refused']} |\n"
        )
    check_table(request, "tools-table", HEAD + "".join(lines))
