"""Two audiences: an analyst reads what he can do, the operator's log has the cause.

Every folder that the dataset has anything in is called canary. Whatever goes wrong there, no
message on the wire names it or tells an analyst what an owner should do; and the log says why.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from data.database import attached
from neighbor_search.share import in_turn
from pgwire.inner_command import command
from pgwire.pressure import question
from pgwire.shop import Served, make, served
from waiting import HANGS_AFTER

from dpsql.errors import Error, LedgerFault, SchemaFault, SourceFault, SourceLocked
from dpsql.pgwire.error_response import fields
from dpsql.pgwire.login.users import UsersFault

psycopg = pytest.importorskip("psycopg")

OWNERS = re.compile(
    r"canary|/|\bdpsql (check|ledger|user|init|prepare)|chmod|restore|new id|anchor|schema\.yaml"
)
"""What no analyst is told: paths, and an owner's commands."""


@dataclass
class Shop:
    """A server whose files lie in canaries' folders, and all that it said to analysts."""

    server: Served
    home: Path
    heard: list[str] = field(default_factory=list)

    def ask(self, sql: str, **login: object) -> BaseException | None:
        try:
            with psycopg.connect(
                self.server.dsn, connect_timeout=HANGS_AFTER, **login
            ) as connection:
                connection.add_notice_handler(lambda told: self.heard.append(str(told)))
                self.heard.append(str(connection.execute(sql).fetchall()))
        except psycopg.Error as error:
            told = [error.diag.message_primary, error.diag.message_detail, error.diag.message_hint]
            self.heard += [str(error), *map(str, told)]
            refused: BaseException = error
            return refused
        return None

    @property
    def source(self) -> Path:
        return self.home / "canary-source" / "shop.duckdb"

    @property
    def ledger(self) -> Path:
        return self.home / "canary-ledger" / "canary.db"

    @property
    def log(self) -> str:
        return (self.server.folder / "log").read_text()


def place(folder: Path) -> Path:
    """The shop's files, in the folders of canaries."""
    home = folder / "canary-schema"
    schema = make(home, customers=200, orders=400)
    (home / "canary-source").mkdir()
    (home / "shop.duckdb").rename(home / "canary-source" / "shop.duckdb")
    text = schema.read_text()
    assert "source: shop.duckdb" in text
    text = text.replace("source: shop.duckdb", "source: canary-source/shop.duckdb")
    schema.write_text(text + "\nledger: canary-ledger/canary.db\n")
    return home


@contextlib.contextmanager
def shop_in(folder: Path, *options: str) -> Iterator[Shop]:
    home = place(folder)
    with served(home, *options) as server:
        shop = Shop(server, home)
        assert shop.ask(question(1)) is None
        yield shop
    assert not [text for text in shop.heard if OWNERS.search(text)]


def damage_ledger(shop: Shop) -> None:
    # The server has it open, so that its log is there.
    for file in (shop.ledger, shop.ledger.with_name(f"{shop.ledger.name}-wal")):
        file.write_bytes(b"no ledger" * 10_000)


def remove_ledger(shop: Shop) -> None:
    shop.ledger.unlink()


def remove_source(shop: Shop) -> None:
    shop.source.unlink()


def other_columns(shop: Shop) -> None:
    other = shop.source.with_name("next.duckdb")
    with attached(other) as data:
        data.execute("CREATE TABLE orders (nothing INTEGER)")
    other.replace(shop.source)


def open_users(shop: Shop) -> None:
    found = command(
        shop.home, "user", "add", str(shop.server.schema), "alice", stdin="correct horse\n"
    )
    assert found.returncode == 0, found.stderr
    shop.ledger.with_name(f"{shop.ledger.name}.users").chmod(0o644)


BROKEN = (
    (damage_ledger, "budget can't be read or charged now", "canary.db"),
    (remove_source, "source can't be read now", "shop.duckdb is missing"),
    (open_users, "nobody can log in now", "may be read by others"),
    (remove_ledger, "budget can't be read or charged now", "canary.db"),
    (other_columns, "source can't be read now", "no table|no column"),
)


@pytest.mark.parametrize(
    ("break_it", "told", "cause"), in_turn(((case[0].__name__, case) for case in BROKEN), 2)
)
def test_an_analyst_reads_what_he_can_do_and_the_log_has_the_cause(
    tmp_path: Path, break_it: Callable[[Shop], None], told: str, cause: str
) -> None:
    with shop_in(tmp_path) as shop:
        break_it(shop)
        error = shop.ask(question(2))
        assert told in str(error), error
    assert re.search(cause, shop.log), shop.log
    assert "qty" not in shop.log


@pytest.mark.parametrize("kind", [LedgerFault, SchemaFault, SourceFault, SourceLocked, UsersFault])
def test_an_owners_text_is_not_sent_and_what_became_of_a_charge_is(kind: type[Error]) -> None:
    error = kind("/canary/ledger.db can't be written", detail="canary", hint="chmod canary")
    error.charge = "its charge stands"
    sent = fields(error)
    assert "canary" not in str(sent)
    assert sent["M"].endswith("; its charge stands")
    assert sent["H"]


def test_a_schema_that_cant_be_used_is_the_operators_to_read(tmp_path: Path) -> None:
    with shop_in(tmp_path) as shop:
        shop.server.schema.write_text("dataset: [")
        shop.ask(question(2))
    assert "the schema is not read anew" in shop.log


def test_killed_workers_are_told_to_the_operator(tmp_path: Path) -> None:
    with shop_in(tmp_path) as shop:
        for worker in shop.server.workers:
            os.kill(worker, signal.SIGKILL)
        shop.ask(question(3))
        shop.ask(question(4))
    assert "was killed: look whether the system ran out of memory" in shop.log


def test_memory_that_runs_out_is_told_to_the_operator_alone(tmp_path: Path) -> None:
    names = " || ".join(f"r{n}.name" for n in range(9))
    product = " CROSS JOIN ".join(f"regions r{n}" for n in range(9))
    long = f"SELECT {names} AS name FROM {product}"
    for _ in range(3):
        long = f"SELECT x.name || x.name || x.name || x.name AS name FROM ({long}) x"
    with shop_in(tmp_path, "--worker-memory", "256", "--statement-seconds", "40") as shop:
        error = shop.ask(f"SELECT count(DISTINCT x.name) FROM ({long}) x")
        assert error is not None
        assert "memory" not in str(error)
    assert "out of memory" in shop.log
    assert "region" not in shop.log


def fill(file: Path) -> None:
    with contextlib.suppress(OSError), file.open("ab", buffering=0) as filler:
        for _ in range(600):
            filler.write(b"x" * 1024)


def test_a_full_disk_is_told_to_the_operator(tmp_path: Path) -> None:
    full = tmp_path / "canary-disk"
    full.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "none", str(full)], check=False
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    try:
        home = place(tmp_path)
        schema = home / "schema.yaml"
        schema.write_text(
            schema.read_text().replace("canary-ledger/canary.db", f"{full}/canary.db")
        )
        with served(home) as server:
            shop = Shop(server, home)
            shop.ask(question(1))
            errors = []
            for number in range(2, 8):
                # A session that ends gives back the room of its log.
                fill(full / "filler")
                errors.append(shop.ask(question(number)))
            assert any(errors), shop.heard
        assert not [text for text in shop.heard if OWNERS.search(text)]
        assert re.search(r"canary.*(the disk is full|no space left)", shop.log), shop.log
    finally:
        subprocess.run(["umount", str(full)], check=False)


def test_a_locked_source_is_told_and_waited_for(tmp_path: Path) -> None:
    """A writer puts a new version in its place, and goes on writing it."""
    with shop_in(tmp_path) as shop:
        other = Path(shutil.copy(shop.source, shop.source.with_name("next.duckdb")))
        hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(); sys.stdin.read()"
        with subprocess.Popen(
            [sys.executable, "-c", hold, str(other)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdin is not None
            writer.stdout.readline()
            other.replace(shop.source)
            error = shop.ask(question(5))
            assert isinstance(error, psycopg.Error)
            assert error.sqlstate == "55006"
            assert "being written by another process" in str(error)
            assert "ask again in a minute" in str(error)
            time.sleep(0.1)
            writer.stdin.close()
        assert shop.ask(question(5)) is None
    assert "shop.duckdb is locked" in shop.log
    assert "Parquet" in shop.log


def test_a_statement_that_takes_too_long_names_the_limit(tmp_path: Path) -> None:
    product = " CROSS JOIN ".join(f"regions r{n}" for n in range(18))
    with shop_in(tmp_path, "--statement-seconds", "2") as shop:
        error = shop.ask(f"SELECT count(*), sum(r0.region_id * r17.region_id) FROM {product}")
        assert isinstance(error, psycopg.errors.QueryCanceled)
        assert "the statement took longer than 2 s, the server's limit; nothing was" in str(error)
    assert "took longer than 2 s" in shop.log
