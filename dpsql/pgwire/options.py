"""The server's options: every fault in them is reported before it opens the data or listens."""

from __future__ import annotations

import errno
import ipaddress
import math
import resource
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from dpsql.errors import BadParameter
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.login.users import UsersFault, read_users, renaming, users_next_to
from dpsql.schema.load.load import ledger_of

_MIB: Final = 1024 * 1024
ADDRESS_SPACE: Final = 1536 * _MIB
"""Bytes that a worker maps besides statements' memory: libraries, stacks of threads."""

_MAX_SECONDS: Final = 30 * 24 * 3600
_OTHER_FILES: Final = 100
"""Files that the server opens besides its clients' sockets."""


class Options(Struct, frozen=True):
    """The options of `dpsql serve` as written on the command line.

    `worker_memory` is in MiB. None means: the file of users next to the ledger (`users`), no
    encryption (`tls_cert`), a key in the certificate's file (`tls_key`), no metrics by HTTP
    (`health_port`), new data prepared where they were before (`prepare`).
    """

    schema: Path
    host: str = "127.0.0.1"
    port: int = 5433
    users: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    workers: int = 2
    worker_memory: int = 2048
    statement_seconds: float = 60
    idle_seconds: float = 3_600
    drain_seconds: float = 8
    connections: int = 400
    health_host: str = "127.0.0.1"
    health_port: int | None = None
    prepare: bool | None = None


class Setup(Struct, frozen=True):
    """The meaning of options.

    `trusts`: whoever connects from this machine is let in, without a password. `tls`: None if
    nothing is encrypted. `admitted`: who may log in, as a line for the operator.
    """

    limits: Limits
    users: Path
    trusts: bool
    tls: ssl.SSLContext | None
    admitted: str


class WrongOptions(BadParameter):
    """Options that can't be used together, or at all; `faults` has a line for each fault."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def checked(options: Options) -> Setup:
    """The meaning of `options`; raises `WrongOptions` with all faults, and what to write instead.

    Without --users, everybody is trusted if there is no file of users next to the ledger. A file
    that --users names, or that has no users in it, never means that everybody is trusted.
    """
    tls, tls_faults = _tls(options)
    users, trusts, admitted, users_faults = _users(options)
    faults = (
        *_numbers(options),
        *_files(options),
        *tls_faults,
        *users_faults,
        *_addresses(options),
    )
    if faults:
        raise WrongOptions(faults)
    limits = Limits(
        connections=options.connections,
        statement_seconds=options.statement_seconds,
        idle_seconds=options.idle_seconds,
        drain_seconds=options.drain_seconds,
        workers=options.workers,
        worker_bytes=options.worker_memory * _MIB,
    )
    return Setup(limits, users, trusts, tls, admitted)


def is_loopback(host: str) -> bool:
    """Whether `host` is an address that can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _users(options: Options) -> tuple[Path, bool, str, list[str]]:
    """The file of users, whether everybody is trusted, who may log in, and the faults."""
    named, ledger_and_schema = options.users is not None, ledger_of(options.schema)
    path = options.users or users_next_to(*ledger_and_schema)
    add = f"dpsql user add {options.schema} NAME" + (f" --users {path}" if named else "")
    try:
        count, there = len(read_users(path).verifiers), path.exists()
    except UsersFault as fault:
        what = f"--users {path}: {fault.message}: {fault.hint or 'restore it, or add users anew'}"
        return path, False, "", [what]
    except OSError as error:
        reason = (error.strerror or "it can't be read").lower()
        return path, False, "", [f"--users {path}: {reason}: name a file of users"]
    if count:
        users = "1 user" if count == 1 else f"{count} users"
        rename = None if named else renaming(*ledger_and_schema)
        admitted = f"{users} of {path} may log in" + (f"; {rename}" if rename else "")
        return path, False, admitted, []
    if named:
        what = "has no users" if there else "isn't there"
        return path, False, "", [f"--users {path}: the file {what}: run {add}"]
    if there:
        return path, False, "", [f"{path} has no users: run {add}, or remove the file"]
    if not _is_local(options.host):
        what = f"--host {options.host}: no users are defined, and it can be reached from elsewhere"
        return path, False, "", [f"{what}: run {add}, or write --host 127.0.0.1"]
    who = "whoever connects from this machine is let in under any name, without a password"
    return path, True, f"{who}: {path} isn't there", []


def _is_local(host: str) -> bool:
    """Whether every address of `host` is loopback; a name without any can't be listened on."""
    return all(is_loopback(address) for _, address, _ in _addresses_of(host, 0) or ())


def _numbers(options: Options) -> Iterator[str]:
    for name, number, lower, upper, fix in (
        ("port", options.port, 0, 65_535, "0 to 65535, 0 for any"),
        ("health-port", options.health_port or 0, 0, 65_535, "0 to 65535, 0 for any"),
        ("workers", options.workers, 1, 256, "1 to 256"),
        ("worker-memory", options.worker_memory, 256, 2**24, "256 or more MiB"),
    ):
        if not lower <= number <= upper:
            yield f"--{name} {number}: write {fix}"
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    max_sockets = 100_000 if hard == resource.RLIM_INFINITY else hard - _OTHER_FILES
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = options.worker_memory * _MIB + ADDRESS_SPACE
    if space != resource.RLIM_INFINITY and space < needed:
        yield (
            f"--worker-memory {options.worker_memory}: ulimit -v leaves a process"
            f" {space // _MIB} MiB, and a worker needs {needed // _MIB}: write less,"
            " or start it with ulimit -v unlimited"
        )
    if not 1 <= options.connections <= max_sockets:
        yield (
            f"--connections {options.connections}: write 1 to {max_sockets}"
            " (each takes a file, and ulimit -n says how many there are)"
        )
    for name, seconds, may_be_zero in (
        ("statement-seconds", options.statement_seconds, False),
        ("idle-seconds", options.idle_seconds, False),
        ("drain-seconds", options.drain_seconds, True),
    ):
        # NaN compares with nothing: such a timeout would never be over.
        fits = math.isfinite(seconds) and 0 <= seconds <= _MAX_SECONDS
        if not fits or (not seconds and not may_be_zero):
            low = "0 or more" if may_be_zero else "more than 0"
            yield f"--{name} {seconds:g}: write {low} and at most {_MAX_SECONDS} (30 days)"


def _files(options: Options) -> Iterator[str]:
    for name, path in (("tls-cert", options.tls_cert), ("tls-key", options.tls_key)):
        if path is None:
            continue
        try:
            path.open("rb").close()
        except OSError as error:
            reason = (error.strerror or "it can't be read").lower()
            yield f"--{name} {path}: {reason}: name a file of PEM"


def _tls(options: Options) -> tuple[ssl.SSLContext | None, list[str]]:
    certificate, key = options.tls_cert, options.tls_key
    if certificate is None:
        if key is None:
            return None, []
        what = f"--tls-key {key}: nothing is encrypted without a certificate"
        return None, [f"{what}: write --tls-cert FILE, too, or leave --tls-key out"]
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # Without a password argument, OpenSSL would ask for one on the terminal.
        context.load_cert_chain(certificate, key, password=lambda: b"")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            return None, [f"--tls-key {key}: isn't the certificate's: name the key made with it"]
        what = f"--tls-cert {certificate}" + ("" if key is None else f" --tls-key {key}")
        fix = "name a certificate of PEM, and with --tls-key its key of PEM, without a password"
        return None, [f"{what}: can't be read: {fix}"]
    except OSError:
        return None, []  # `_files` says why
    return context, []


def _addresses(options: Options) -> Iterator[str]:
    listeners = [("host", options.host, "port", options.port)]
    if options.health_port is not None:
        listeners.append(("health-host", options.health_host, "health-port", options.health_port))
        if options.port and options.port == options.health_port:
            yield f"--health-port {options.health_port}: --port has it: write another"
    for host_option, host, port_option, port in listeners:
        if not 0 <= port <= 65_535:
            continue
        addresses = _addresses_of(host, port)
        if not addresses:
            yield f"--{host_option} {host}: no address has that name: write 127.0.0.1, or 0.0.0.0"
            continue
        for family, _, where in addresses:
            reason = _taken(family, where)
            if reason in {errno.EADDRINUSE, errno.EACCES}:
                what = "is in use" if reason == errno.EADDRINUSE else "needs privileges"
                yield f"--{port_option} {port}: {what}: write another, or 0 for any"
                break
            if reason == errno.EADDRNOTAVAIL:
                yield f"--{host_option} {host}: this machine hasn't that address: write one it has"
                break


_Where = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
_Address = tuple[socket.AddressFamily, str, _Where]


def _addresses_of(host: str, port: int) -> list[_Address]:
    """The addresses of `host`, none for an empty name, which would mean all of this machine."""
    if not host:
        return []
    try:
        known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return []
    return [(family, str(where[0]), where) for family, _, _, _, where in known]


def _taken(family: socket.AddressFamily, where: _Where) -> int | None:
    """The errno for which the server can't listen at `where`, None if it can."""
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            probe.bind(where)
            probe.listen(1)
        except OSError as error:
            return error.errno
    return None
