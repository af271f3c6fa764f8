"""The same script by clients of many languages, at dpsql and at a real PostgreSQL.

A client prints values as its language shows them, names and types of columns where it has them,
what its own functions read of the catalogue, and SQLSTATEs. What it prints of the two servers is
equal, but for noise on private rows, and for `NOTED`. `.ci/clients all` installs the clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pgwire.matrix.clients import CLIENTS, Client
from pgwire.matrix.compared import differing, half_widths, printed
from pgwire.matrix.noted import noted
from pgwire.matrix.two_servers import Servers, both

ORDINARY = ("psycopg", "libpq")
"""Clients of each run: CI has them all, and each takes a few seconds."""
MIN_CLIENTS, MIN_LANGUAGES = 25, 9


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with both(tmp_path_factory.mktemp("matrix")) as running:
        yield running


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


@pytest.mark.parametrize("client", [c for c in CLIENTS if c.name in ORDINARY], ids=str)
def test_a_client_reads_the_same_of_both_servers(
    servers: Servers, widths: Mapping[str, float], client: Client, tmp_path: Path
) -> None:
    assert compared(client, servers, widths, tmp_path) == {}


@pytest.mark.slow
def test_all_clients_read_the_same_of_both_servers(
    servers: Servers, widths: Mapping[str, float], tmp_path: Path
) -> None:
    """Fails if fewer than 25 clients of nine languages are there, or if any of them differs."""
    there, wrong = [], {}
    for n, client in enumerate(CLIENTS):
        folder = tmp_path / str(n)
        folder.mkdir()
        try:
            different = compared(client, servers, widths, folder)
        except pytest.skip.Exception:
            continue
        there.append(client)
        if different:
            wrong[str(client)] = different
    assert not wrong
    assert len(there) >= MIN_CLIENTS
    assert len({client.language for client in there}) >= MIN_LANGUAGES
