"""The file of users: what isn't one is refused, and nobody logs in by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.pgwire.user import Users, UsersFault, read_users, write_users


def test_users_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "shop.users"
    written = Users(b"s" * 32, {}).with_password("alice", "correct horse")
    write_users(path, written)
    assert read_users(path) == written


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
