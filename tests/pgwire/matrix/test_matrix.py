"""The same script by clients of many languages, at dpsql and at a real PostgreSQL.

A client prints values as its language shows them, names and types of columns where it has them,
what its own functions read of the catalogue, and SQLSTATEs. What it prints of the two servers is
equal, but for noise on private rows, and for `NOTED`. `.ci/clients all` installs the clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from documentation.pages import check_table
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
) -> tuple[int, dict[str, object]]:
    """How many statements were compared, and those of them that differ without a note."""
    if not client.is_there():
        pytest.skip(f"{client.name} isn't installed")
    words = client.build(folder)
    theirs = printed(client, words, servers, servers.theirs)
    ours = printed(client, words, servers, servers.ours)
    different = differing(ours, theirs, widths)
    assert len(theirs) > 40
    return len(theirs), {k: v for k, v in different.items() if not noted(client.name, k)}


@pytest.mark.parametrize("client", [c for c in CLIENTS if c.name in ORDINARY], ids=str)
def test_a_client_reads_the_same_of_both_servers(
    servers: Servers, widths: Mapping[str, float], client: Client, tmp_path: Path
) -> None:
    _, different = compared(client, servers, widths, tmp_path)
    assert different == {}


@pytest.mark.slow
def test_all_clients_read_the_same_of_both_servers(
    servers: Servers,
    widths: Mapping[str, float],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Fails if fewer than 25 clients of nine languages are there, or if any of them differs."""
    rows, wrong = [], {}
    for n, client in enumerate(CLIENTS):
        folder = tmp_path / str(n)
        folder.mkdir()
        try:
            count, different = compared(client, servers, widths, folder)
        except pytest.skip.Exception:
            continue
        rows.append((client, count))
        if different:
            wrong[str(client)] = different
    assert not wrong
    languages = {client.language for client, _ in rows}
    assert len(rows) >= MIN_CLIENTS
    assert len(languages) >= MIN_LANGUAGES
    lines = [f"| {c.language} | {c.name} | {count} |" for c, count in rows]
    total = f"| {len(languages)} languages | {len(rows)} clients | {sum(r[1] for r in rows):,} |"
    head = ["| language | client | statements |", "| --- | --- | ---: |"]
    check_table(request, "matrix-table", "\n".join([*head, *sorted(lines), total]) + "\n")
