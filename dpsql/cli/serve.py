"""Runs the server that BI tools connect to, until it is told to stop."""

from __future__ import annotations

import asyncio
import resource
import signal
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsql.cli.failure import explained, say

if TYPE_CHECKING:
    from dpsql.pgwire.server import Server


@click.command()
@click.argument("schema", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=5433, show_default=True, help="Its port; 0 for any.")
@click.option("--users", type=click.Path(path_type=Path), metavar="FILE", help="Who may log in.")
@click.option(
    "--tls-cert",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="The certificate to show, PEM.",
)
@click.option(
    "--tls-key", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help="Its key, PEM."
)
@click.option("--workers", default=2, show_default=True, help="Processes that read the data.")
@click.option("--worker-memory", default=2048, show_default=True, help="MiB for each of them.")
@click.option("--statement-seconds", default=60.0, show_default=True, help="The longest statement.")
@click.option("--idle-seconds", default=3600.0, show_default=True, help="The longest silence.")
@click.option("--connections", default=400, show_default=True, help="How many at once.")
@click.option("--health-port", type=int, help="Counts for Prometheus, by HTTP on the loopback.")
def serve(  # noqa: PLR0913, PLR0917 - as many as there are options
    schema: Path,
    host: str,
    port: int,
    users: Path | None,
    tls_cert: str | None,
    tls_key: str | None,
    workers: int,
    worker_memory: int,
    statement_seconds: float,
    idle_seconds: float,
    connections: int,
    health_port: int | None,
) -> None:
    """Serve BI tools: speak PostgreSQL's protocol.

    Each user is an analyst; dpsql user add defines them. Without users, whoever
    connects from this machine is the analyst whose name they give.
    """
    # What opens engines is imported late: dpsql --help answers at once.
    from dpsql.cli.log import log_to_terminal  # noqa: PLC0415
    from dpsql.pgwire.dataset import Dataset  # noqa: PLC0415
    from dpsql.pgwire.exchange import Door  # noqa: PLC0415
    from dpsql.pgwire.limit import Limits  # noqa: PLC0415
    from dpsql.pgwire.server import Server  # noqa: PLC0415
    from dpsql.pgwire.user import users_path  # noqa: PLC0415

    log_to_terminal()
    _allow_many_sockets()
    limits = Limits(
        connections=connections,
        statement_seconds=statement_seconds,
        idle_seconds=idle_seconds,
        workers=workers,
        worker_bytes=worker_memory * 1024 * 1024,
    )
    with explained():
        context = _tls(tls_cert, tls_key)
        dataset = Dataset(schema, limits)
        try:
            door = Door(users or users_path(dataset.edition().schema), limits)
            server = Server(dataset, door, limits, context)
            asyncio.run(_run(server, host, port, health_port))
        finally:
            dataset.close()


async def _run(server: Server, host: str, port: int, health_port: int | None) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    taken = await server.listen(host, port)
    say(f"listening on {host}:{taken}")
    if health_port is not None:
        say(f"health on 127.0.0.1:{await server.listen_for_health(health_port)}")
    await stopped.wait()
    await server.close()


def _tls(certificate: str | None, key: str | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError:
        raise click.UsageError("the certificate and its key can't be read") from None
    return context


def _allow_many_sockets() -> None:
    """Each client takes one; the usual limit of 1,024 is soon reached by slow ones."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8_192 if hard == resource.RLIM_INFINITY else min(hard, 8_192)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
