"""The file of users: what isn't one is refused, and nobody logs in by it."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import pytest
from pgwire.shop import make

from dpsql.pgwire.login.users import (
    Users,
    UsersFault,
    change_users,
    read_users,
    users_next_to,
    write_users,
)
from dpsql.pgwire.options import Options, checked


def test_users_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "shop.users"
    written = Users(b"s" * 32, {}).with_password("alice", "correct horse")
    write_users(path, written)
    assert read_users(path) == written


def test_of_processes_that_change_users_at_once_each_is_heard(tmp_path: Path) -> None:
    path = tmp_path / "shop.users"
    names = [f"analyst {number}" for number in range(6)]
    users = Users(b"s" * 32, {})
    for name in names:
        users = users.with_password(name, "correct horse")
    write_users(path, users)
    with multiprocessing.get_context("spawn").Pool(len(names)) as pool:
        pool.starmap(removed, [(path, name) for name in names])
    assert not read_users(path).verifiers


def removed(path: Path, name: str) -> None:
    """One user less, by a process that takes its time between reading and writing."""

    def without(before: Users) -> Users:
        time.sleep(0.05)
        return before.without(name)

    change_users(path, without)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"secret": "00"}',
        b'{"secret": 7, "users": {}}',
        b'{"secret": "0g", "users": {}}',
        b'{"secret": "00", "users": []}',
        b'{"secret": "00", "users": {"alice": null}}',
        b'{"secret": "00", "users": {"alice": "SCRAM-SHA-256$"}}',
        b'{"secret": "00", "users": {}, "more": 1}',
        b"[" * 100_000,
        b'{"secret": "00", "users": {"alice": ' + b"[" * 100_000,
    ],
)
def test_a_damaged_file_has_no_users(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "shop.users"
    path.write_bytes(damage)
    path.chmod(0o600)
    with pytest.raises(UsersFault):
        read_users(path)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("postgresql://host/ledgers", "a.yaml"), ("postgresql://host/ledgers", "a.yml")),
        ((Path("ledger.db"), "a.yaml"), (Path("ledger.sqlite"), "b.yaml")),
    ],
)
def test_no_two_ledgers_share_a_file_of_users(
    tmp_path: Path, one: tuple[Path | str, str], two: tuple[Path | str, str]
) -> None:
    def users(ledger: Path | str, schema: str) -> Path:
        place = tmp_path / ledger if isinstance(ledger, Path) else ledger
        return users_next_to(place, tmp_path / schema)

    assert users(*one) != users(*two)


def test_a_file_with_the_name_of_version_0_1_is_read_until_it_is_renamed(tmp_path: Path) -> None:
    schema = make(tmp_path / "shop")
    folder = schema.parent
    schema.write_text(f"{schema.read_text()}ledger: own.db\n")
    write_users(folder / "own.users", Users(b"secret", {}).with_password("alice", "long enough"))
    setup = checked(Options(schema))
    assert not setup.trusts
    assert "1 user of" in setup.admitted
    assert "rename it own.db.users" in setup.admitted
    (folder / "own.users").rename(folder / "own.db.users")
    renamed = checked(Options(schema))
    assert not renamed.trusts
    assert "rename" not in renamed.admitted
