"""Options of the server: wrong ones are told before anything listens, and who may come in."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pgwire.inner_command import command
from pgwire.shop import environment, make, served
from waiting import HANGS_AFTER

from dpsql.cli import log, serve

PASSWORD = "correct horse"  # noqa: S105


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make(tmp_path / "shop", customers=20, orders=40)
    return tmp_path / "shop"


def refused(folder: Path, *options: str) -> str:
    """What a server says that doesn't start, in this process: nothing is opened or begun for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "log_to_terminal", lambda: None)
        patch.setattr(serve, "_allow_many_sockets", lambda: pytest.fail("it would start"))
        found = command(folder, "serve", str(folder / "schema.yaml"), *options)
    assert found.returncode == 2, found.stderr
    assert "listening" not in found.stderr
    return found.stderr


def certificate(folder: Path, name: str = "") -> tuple[Path, Path]:
    shown, key = folder / f"cert{name}.pem", folder / f"key{name}.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout"
    made = subprocess.run(
        ["openssl", *words.split(), str(key), "-out", str(shown)], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip("openssl can't make a certificate")
    return shown, key


@pytest.mark.parametrize(
    "wrong",
    [
        {
            "--port 80000": "write 0 to 65535",
            "--health-port 65536": "write 0 to 65535",
            "--connections 0": "write 1 to ",
            "--worker-memory 1": "write 256 or more",
            "--workers 0": "write 1 to 256",
            "--statement-seconds -1": "write more than 0",
            "--idle-seconds inf": "write more than 0",
        },
        {
            "--port -1": "write 0 to 65535",
            "--connections 1000000000": "write 1 to ",
            "--worker-memory 99999999999": "write 256",
            "--workers -3": "write 1 to 256",
            "--statement-seconds nan": "write more than 0",
        },
        {"--host nowhere.invalid": "no address has that name"},
        {"--host=": "no address has that name", "--health-port 5433": "--port has it"},
    ],
    ids=["beyond", "below", "host", "odd"],
)
def test_wrong_options_are_told_with_what_to_write(folder: Path, wrong: dict[str, str]) -> None:
    said = refused(folder, *" ".join(wrong).split())
    for option, instead in wrong.items():
        assert f"{option.replace('=', ' ')}: {instead}" in said


def test_all_faults_are_told_at_once(folder: Path) -> None:
    key = folder / "key.pem"
    key.write_text("no key")
    said = refused(
        folder,
        *("--port", "80000", "--connections", "0", "--workers", "0", "--worker-memory", "1"),
        *("--statement-seconds", "-1", "--tls-key", str(key), "--users", str(folder / "typo")),
    )
    for option in ("port", "connections", "workers", "worker-memory", "statement-seconds"):
        assert f"error: --{option} " in said
    assert "error: --tls-key" in said
    assert "error: --users" in said


def test_a_key_without_a_certificate_is_not_plaintext(folder: Path) -> None:
    _, key = certificate(folder)
    add(folder)
    said = refused(folder, "--host", "0.0.0.0", "--port", "0", "--tls-key", str(key))  # noqa: S104
    assert "write --tls-cert FILE" in said


def test_files_of_tls_are_told_apart(folder: Path) -> None:
    (shown, key), (_, other) = certificate(folder), certificate(folder, "2")
    gone = folder / "gone.pem"
    said = refused(folder, "--tls-cert", str(gone), "--tls-key", str(key))
    assert f"--tls-cert {gone}: no such file" in said
    assert "isn't the certificate's" in refused(
        folder, "--tls-cert", str(shown), "--tls-key", str(other)
    )
    assert "with --tls-key its key" in refused(folder, "--tls-cert", str(shown))
    locked = folder / "locked.pem"
    words = ["openssl", "rsa", "-aes128", "-passout", "pass:secret", "-in", str(key)]
    subprocess.run([*words, "-out", str(locked)], check=True, capture_output=True)
    assert "without a password" in refused(
        folder, "--tls-cert", str(shown), "--tls-key", str(locked)
    )


def add(folder: Path, *options: str) -> None:
    schema = str(folder / "schema.yaml")
    added = command(folder, "user", "add", schema, "alice", *options, stdin=f"{PASSWORD}\n")
    assert added.returncode == 0, added.stderr


def test_a_file_of_users_that_is_named_has_some(folder: Path) -> None:
    typo = folder / "typo"
    said = refused(folder, "--port", "0", "--users", str(typo))
    assert f"--users {typo}: the file isn't there" in said
    assert f"dpsql user add {folder / 'schema.yaml'} NAME --users {typo}" in said
    who = folder / "who"
    add(folder, "--users", str(who))
    command(folder, "user", "remove", str(folder / "schema.yaml"), "alice", "--users", str(who))
    assert "the file has no users" in refused(folder, "--port", "0", "--users", str(who))
    who.chmod(0o644)
    assert "may be read by others" in refused(folder, "--port", "0", "--users", str(who))


def test_who_removes_the_last_user_trusts_nobody(folder: Path) -> None:
    add(folder)
    command(folder, "user", "remove", str(folder / "schema.yaml"), "alice")
    assert "has no users" in refused(folder, "--port", "0")


def test_an_address_in_use_is_told(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port {port}: is in use" in refused(folder, "--port", str(port))


def said_when_listening(folder: Path, *options: str) -> str:
    words = [sys.executable, "-m", "dpsql.cli", "serve", str(folder / "schema.yaml")]
    process = subprocess.Popen(
        [*words, "--port", "0", *options],
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        return next(line for line in lines(process) if "listening on" in line)
    finally:
        process.terminate()
        process.communicate(timeout=HANGS_AFTER)


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stderr is not None
    yield from process.stderr


def test_listening_says_who_may_come_in_and_how(folder: Path) -> None:
    state = folder / "state" / "shop"
    trusting = said_when_listening(folder)
    assert "listening on 127.0.0.1:" in trusting
    assert "in plaintext; whoever connects from this machine is let in under any name" in trusting
    assert str(state) in trusting
    add(folder)
    shown, key = certificate(folder)
    found = said_when_listening(
        folder,
        "--host",
        "0.0.0.0",  # noqa: S104
        "--tls-cert",
        str(shown),
        "--tls-key",
        str(key),
    )
    assert "listening on 0.0.0.0:" in found
    assert "with TLS; 1 user of " in found
    assert "may log in" in found


def test_who_was_required_to_log_in_stays_so_when_the_file_is_gone(folder: Path) -> None:
    psycopg = pytest.importorskip("psycopg")
    who = folder / "who"
    add(folder, "--users", str(who))
    with served(folder, "--users", str(who)) as server:
        who.unlink()
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(server.dsn, password=PASSWORD)


def test_a_limit_of_address_space_is_named(folder: Path) -> None:
    words = [sys.executable, "-m", "dpsql.cli", "serve", str(folder / "schema.yaml")]
    found = subprocess.run(
        ["prlimit", f"--as={2 * 1024**3}", *words, "--port", "0"],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_AFTER,
    )
    assert found.returncode == 2
    assert "--worker-memory 2048: ulimit -v leaves a process 2048 MiB" in found.stderr


def test_data_are_prepared_in_the_background_where_the_owner_wants_it(folder: Path) -> None:
    with served(folder, "--prepare") as server:
        assert server.process.stderr is not None
        for line in server.process.stderr:
            if "in the background: prepared customers, orders in " in line:
                break
    assert [*folder.glob("state/**/*.prepared.duckdb")]
