"""Logins: users with passwords over TLS or not, trust on the loopback, limits of failures."""

from __future__ import annotations

import socket
import stat
import struct
import subprocess
from pathlib import Path

import pytest
from pgwire import shop
from pgwire.inner_command import command
from pgwire.shop import Served, make, served
from waiting import HANGS_AFTER

psycopg = pytest.importorskip("psycopg")

PASSWORD, WRONG = "correct horse", "wrong password"


def connect(server: Served, **given: object) -> str:
    options = {"user": "alice", "password": PASSWORD, "sslmode": "disable"} | given
    with psycopg.connect(host="127.0.0.1", port=server.port, dbname="shop", **options) as found:
        return str(found.execute("SELECT current_user").fetchone()[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make(tmp_path / "shop")
    return tmp_path / "shop"


def test_users_are_added_changed_listed_and_removed(folder: Path) -> None:
    schema, users = str(folder / "schema.yaml"), folder / "who"
    of = ("--users", str(users))
    assert (
        command(folder, "user", "add", schema, "alice", *of, stdin=f"{PASSWORD}\n").returncode == 0
    )
    assert stat.S_IMODE(users.stat().st_mode) == 0o600
    assert PASSWORD not in users.read_text()
    assert (
        command(folder, "user", "add", schema, "alice", *of, stdin="another one\n").returncode == 2
    )
    assert command(folder, "user", "add", schema, "bob", *of, stdin="short\n").returncode == 1
    assert command(folder, "user", "list", schema, *of).stdout == "alice\n"
    assert (
        command(folder, "user", "passwd", schema, "alice", *of, stdin="quite new\n").returncode == 0
    )
    assert command(folder, "user", "remove", schema, "alice", *of).returncode == 0
    assert command(folder, "user", "remove", schema, "alice", *of).returncode == 1
    users.chmod(0o644)
    assert "may be read by others" in command(folder, "user", "list", schema, *of).stderr


def test_a_password_is_asked_for_and_wrong_ones_look_alike(folder: Path) -> None:
    schema = str(folder / "schema.yaml")
    command(folder, "user", "add", schema, "alice", stdin=f"{PASSWORD}\n")
    with served(folder) as server:
        assert connect(server) == "alice"
        said = []
        for user in ("alice", "nobody"):
            with pytest.raises(psycopg.OperationalError) as raised:
                connect(server, user=user, password=WRONG)
            said.append(str(raised.value).rpartition("FATAL")[2].replace(user, "X"))
        assert said[0] == said[1]
        for _ in range(25):
            with pytest.raises(psycopg.OperationalError) as raised:
                connect(server, password=WRONG)
        assert "too many failed logins" in str(raised.value)
        command(folder, "user", "add", schema, "bob", stdin=f"{PASSWORD}\n")
        assert connect(server, user="bob") == "bob"
        command(folder, "user", "remove", schema, "bob")
        with pytest.raises(psycopg.OperationalError):
            connect(server, user="bob")


def test_tls_is_spoken(folder: Path) -> None:
    certificate, key = folder / "cert.pem", folder / "key.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout"
    made = subprocess.run(
        ["openssl", *words.split(), str(key), "-out", str(certificate)],
        check=False,
        capture_output=True,
    )
    if made.returncode:
        pytest.skip("openssl can't make a certificate")
    command(folder, "user", "add", str(folder / "schema.yaml"), "alice", stdin=f"{PASSWORD}\n")
    with served(folder, "--tls-cert", str(certificate), "--tls-key", str(key)) as server:
        assert connect(server, sslmode="require") == "alice"
        with psycopg.connect(
            host="127.0.0.1", port=server.port, user="alice", password=PASSWORD, sslmode="require"
        ) as connection:
            assert connection.pgconn.ssl_in_use


def test_without_users_only_the_loopback_is_listened_on(folder: Path) -> None:
    found = shop.command(folder, "serve", str(folder / "schema.yaml"), "--host", "0.0.0.0")  # noqa: S104
    assert found.returncode == 2
    assert "no users are defined" in found.stderr
    assert "dpsql user add" in found.stderr


def test_bytes_before_tls_are_not_believed(server: Served) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_AFTER) as client:
        client.sendall(struct.pack("!ii", 8, 80877103))
        assert client.recv(1) == b"N"  # no certificate: it goes on in plain


def test_a_newer_minor_version_is_negotiated(server: Served) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_AFTER) as client:
        body = struct.pack("!HH", 3, 2) + b"user\0alice\0_pq_.x\0y\0\0"
        client.sendall(struct.pack("!i", len(body) + 4) + body)
        negotiated = struct.pack("!HHi", 3, 0, 1) + b"_pq_.x\0"
        expected = b"v" + struct.pack("!i", len(negotiated) + 4) + negotiated
        # libpq 18 leaves where the version is 0.0, "pre-3.0".
        assert client.recv(len(expected), socket.MSG_WAITALL) == expected
