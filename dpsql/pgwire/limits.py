"""Limits of one client, and of all clients together."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Names that end in _seconds are seconds, in _bytes bytes; all others are counts.

    - connections, waiting_logins: of all clients, those logged in and those that aren't yet;
    - login, message, idle: how long one client may take to log in, to send one message once it has
      begun, and to send nothing;
    - drain: how long statements may go on once the server stops;
    - message_bytes: of one message after the login;
    - statements, portals: open ones of one client;
    - held_bytes: of answers that an analyst's clients may still read, before they get others;
    - failed_logins_a_minute: of one user from one address, ten times as many from one address;
    - workers, worker_bytes: processes over the data, and the memory of each;
    - catalog_…: processes that answer queries of the catalogue, the memory of each, and the time,
      rows and bytes of one answer.
    """

    connections: int = 400
    waiting_logins: int = 2_000
    login_seconds: float = 10
    message_seconds: float = 30
    idle_seconds: float = 3_600
    statement_seconds: float = 60
    drain_seconds: float = 8
    message_bytes: int = 1024 * 1024
    statements: int = 1_000
    portals: int = 200
    held_bytes: int = 128 * 1024 * 1024
    failed_logins_a_minute: int = 20
    workers: int = 2
    worker_bytes: int = 2 * 1024 * 1024 * 1024
    catalog_workers: int = 2
    catalog_worker_bytes: int = 512 * 1024 * 1024
    catalog_seconds: float = 10
    catalog_rows: int = 100_000
    catalog_bytes: int = 64 * 1024 * 1024
