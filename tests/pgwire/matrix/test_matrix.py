"""The same script by clients of many languages, at dpsql and at a real PostgreSQL.

A client prints values as its language shows them, names and types of columns where it has them,
what its own functions read of the catalogue, and SQLSTATEs. What it prints of the two servers is
equal, but for noise on private rows, and for `NOTED`. `.ci/clients all` installs the clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from documentation.pages import check_table
from pgwire.matrix.clients import CLIENTS, Client
from pgwire.matrix.compared import differing, half_widths, printed
from pgwire.matrix.noted import noted
from pgwire.matrix.two_servers import Servers

ORDINARY = ("psycopg", "libpq")
"""Clients of each run; `.ci/batteries` has them all."""
MIN_CLIENTS, MIN_LANGUAGES = 25, 9


@pytest.fixture(scope="module")
def widths(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, float]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSQL_STATE", str(tmp_path_factory.mktemp("state")))
        return half_widths(servers.schema)


def compared(
    client: Client, servers: Servers, widths: Mapping[str, float], folder: Path
) -> dict[str, object]:
    """The statements of which the client prints otherwise than of PostgreSQL, without a note."""
    if not client.is_there():
        pytest.skip(f"{client.name} isn't installed")
    words = client.build(folder)
    theirs = printed(client, words, servers, servers.theirs)
    ours = printed(client, words, servers, servers.ours)
    different = differing(ours, theirs, widths)
    assert len(theirs) > 40
    return {k: v for k, v in different.items() if not noted(client.name, k)}


@pytest.mark.parametrize(
    "client",
    [
        pytest.param(c, id=str(c), marks=() if c.name in ORDINARY else pytest.mark.in_turn)
        for c in CLIENTS
    ],
)
def test_a_client_reads_the_same_of_both_servers(
    servers: Servers, widths: Mapping[str, float], client: Client, tmp_path: Path
) -> None:
    assert compared(client, servers, widths, tmp_path) == {}


@pytest.mark.slow
def test_at_least_25_clients_of_nine_languages_are_there() -> None:
    there = [client for client in CLIENTS if client.is_there()]
    assert len(there) >= MIN_CLIENTS
    assert len({client.language for client in there}) >= MIN_LANGUAGES


def test_a_page_lists_the_clients(request: pytest.FixtureRequest) -> None:
    by_language: dict[str, list[str]] = {}
    for client in CLIENTS:
        by_language.setdefault(client.language, []).append(client.name)
    rows = [f"| {language} | {', '.join(names)} |\n" for language, names in by_language.items()]
    check_table(request, "clients-table", "".join(["| | |\n| --- | --- |\n", *rows]))
