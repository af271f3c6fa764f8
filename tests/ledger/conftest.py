"""A place for a ledger: a file, and in the tests of BOTH also a server, if there is one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger.ledger_world import Place, place_in

BOTH = {
    f"test_ledger_{name}"
    for name in ("budget", "charge", "process", "reuse", "terms", "crash", "naming")
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "place" in metafunc.fixturenames and metafunc.module.__name__.rpartition(".")[2] in BOTH:
        metafunc.parametrize("place", ["file", "server"], indirect=True)


@pytest.fixture
def file_place(tmp_path: Path) -> Place:
    return place_in(tmp_path)


@pytest.fixture
def server_place(tmp_path: Path) -> Iterator[Place]:
    url = os.environ.get("DPSQL_POSTGRES")
    if not url:
        pytest.skip("no PostgreSQL: export DPSQL_POSTGRES=$(.ci/postgres start)")
    place = Place(
        tmp_path / "none", tmp_path / "anchors" / "ledger.anchor", url, secrets.token_hex(8)
    )
    yield place
    place.drop()


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Place:
    found = request.getfixturevalue(f"{getattr(request, 'param', 'file')}_place")
    assert isinstance(found, Place)
    return found
