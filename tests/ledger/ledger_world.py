"""Terms, charges and openings that the tests of the ledger share, and runs in other processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from waiting import HANGS_AFTER

from dpsql.ledger.chain.hash_chain import Clock, utc_now
from dpsql.ledger.charge import Charge
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.storage.backend import Location, Server
from dpsql.ledger.storage.postgres import connect_server
from dpsql.ledger.terms import LedgerTerms
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss

# A child of the fork server starts in milliseconds and inherits neither threads nor locks.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["dpsql.ledger.ledger"])

PURE = Accounting.PURE
TENTH = Fraction(1, 10)


def terms(
    cap: Fraction | int = 10,
    delta: Fraction | int = 0,
    accounting: Accounting = PURE,
    dataset: str = "tpch",
    neighbors: str = "add_remove",
    conversion: Fraction | int = 0,
    policy: str = "policy-1",
) -> LedgerTerms:
    loss = PrivacyLoss(accounting, Fraction(cap), Fraction(delta))
    return LedgerTerms(dataset, neighbors, accounting, loss, Fraction(conversion), policy)


def charge(
    request: str | int,
    amount: Fraction | int = TENTH,
    delta: Fraction | int = 0,
    analyst: str = "alice",
    own: Fraction | int | None = None,
    accounting: Accounting = PURE,
    request_hash: str | None = None,
    query: str = "SELECT count(*) FROM orders",
) -> Charge:
    return Charge(
        request_id=str(request),
        request_hash=f"hash of {request}" if request_hash is None else request_hash,
        analyst=analyst,
        loss=PrivacyLoss(accounting, Fraction(amount), Fraction(delta)),
        analyst_cap=None if own is None else Fraction(own),
        data_version="data-1",
        policy_hash="policy-1",
        query=query,
        detail=({"mechanism": "laplace", "sensitivity": "1", "scale": "10", "epsilon": "1/10"},),
    )


@dataclass(frozen=True)
class Place:
    """Where one ledger lies in a test: in a file, or on a server where there is a `url`."""

    path: Path
    anchor: Path
    url: str = ""
    dataset: str = ""

    @property
    def location(self) -> Location:
        return Server(self.url, self.dataset) if self.url else self.path

    def open(
        self, asked: LedgerTerms | None = None, *, create: bool = True, clock: Clock = utc_now
    ) -> Ledger:
        where = self.location
        return Ledger.open(where, self.anchor, asked or terms(), create=create, clock=clock)

    def as_recorded(self) -> Ledger:
        return Ledger.as_recorded(self.location, self.anchor)

    def drop(self) -> None:
        assert isinstance(self.location, Server)
        with closing(connect_server(self.location)) as database:
            database.run(f'DROP SCHEMA IF EXISTS "{self.location.schema}" CASCADE')

    def files(self) -> list[Path]:
        return [self.path, self.path.with_name(self.path.name + "-wal"), self.anchor]

    def state(self) -> dict[Path, bytes]:
        """A copy of all files, as a backup would have it."""
        return {path: path.read_bytes() for path in self.files() if path.exists()}

    def restore(self, state: dict[Path, bytes]) -> None:
        for path in self.files():
            path.unlink(missing_ok=True)
        for path, content in state.items():
            path.write_bytes(content)
            path.chmod(0o600)


def place_in(folder: Path, name: str = "ledger") -> Place:
    return Place(folder / "state" / f"{name}.db", folder / "elsewhere" / f"{name}.anchor")


def run(target: Callable[..., object], *arguments: object) -> int | None:
    """The exit code of `target` in a process of its own."""
    process = PROCESSES.Process(target=target, args=arguments)
    process.start()
    process.join(HANGS_AFTER)
    code = process.exitcode
    process.close()
    return code
