"""How much one client, and all together, may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Times are in seconds, sizes in bytes."""

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
    failed_logins_a_minute: int = 20
    workers: int = 2
    worker_bytes: int = 2 * 1024 * 1024 * 1024
    catalog_workers: int = 2
    catalog_worker_bytes: int = 512 * 1024 * 1024
    catalog_seconds: float = 10
    catalog_rows: int = 100_000
    catalog_bytes: int = 64 * 1024 * 1024
