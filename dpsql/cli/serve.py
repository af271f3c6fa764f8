"""Runs the server that BI tools connect to, until SIGINT or SIGTERM."""

from __future__ import annotations

import logging
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors
from dpsql.cli.options import in_background

if TYPE_CHECKING:
    from dpsql.pgwire.monitoring.health_endpoint import HealthEndpoint
    from dpsql.pgwire.options import Options, Setup
    from dpsql.pgwire.server import Server

_FILE = click.Path(path_type=Path)
_LOG: Final = logging.getLogger("dpsql.pgwire")

_SWITCH_SECONDS = 0.001
"""How long a thread that computes keeps the interpreter while others want it; Python's own is 5 ms.

Beside four that compute, the event loop has a thread's answer five times as soon.
"""


@click.command()
@click.argument("schema", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=5433, show_default=True, help="Its port; 0 for any.")
@click.option("--users", type=_FILE, metavar="FILE", help="Who may log in.")
@click.option("--tls-cert", type=_FILE, metavar="FILE", help="The certificate to show, PEM.")
@click.option("--tls-key", type=_FILE, metavar="FILE", help="Its key, PEM.")
@click.option("--workers", default=2, show_default=True, help="Processes that read the data.")
@click.option("--worker-memory", default=2048, show_default=True, help="MiB for each of them.")
@click.option("--statement-seconds", default=60.0, show_default=True, help="The longest statement.")
@click.option("--idle-seconds", default=3600.0, show_default=True, help="The longest silence.")
@click.option("--drain-seconds", default=8.0, show_default=True, help="What runs when stopped.")
@click.option("--connections", default=400, show_default=True, help="How many at once.")
@in_background
@click.option("--health-port", type=int, help="Counts for Prometheus, by HTTP.")
@click.option("--health-host", default="127.0.0.1", show_default=True, help="Its address.")
def serve(**arguments: Any) -> None:
    """Serve BI tools: speak PostgreSQL's protocol.

    Each user is an analyst; dpsql user add defines them. Without users, whoever
    connects from this machine is the analyst whose name they give.
    """
    # Modules that import engines are imported late, so that dpsql --help is fast, and asyncio is
    # late for all other commands, too.
    import asyncio  # noqa: PLC0415

    from dpsql.cli.log import log_to_terminal  # noqa: PLC0415
    from dpsql.pgwire.login.authentication import Authenticator  # noqa: PLC0415
    from dpsql.pgwire.monitoring.health_endpoint import HealthEndpoint  # noqa: PLC0415
    from dpsql.pgwire.options import Options, WrongOptions, checked  # noqa: PLC0415
    from dpsql.pgwire.server import Server  # noqa: PLC0415
    from dpsql.pgwire.shared_dataset import Dataset  # noqa: PLC0415
    from dpsql.pgwire.workers.processor_affinity import stay_on_one  # noqa: PLC0415
    from dpsql.session.preparing.renewal import Renewal  # noqa: PLC0415

    log_to_terminal()
    options = Options(**arguments)
    with reporting_errors():
        try:
            setup = checked(options)
        except WrongOptions as wrong:
            for fault in wrong.faults:
                echo_err(f"error: {fault}")
            raise click.exceptions.Exit(ExitCode.MISUSED) from None
        _allow_many_sockets()
        sys.setswitchinterval(_SWITCH_SECONDS)
        dataset = Dataset(options.schema, setup.limits)
        renewal = Renewal(
            options.schema, lambda: dataset.snapshot().schema, options.prepare, _log_renewal
        )
        try:
            renewal.start()
            door = Authenticator(setup.users, setup.limits, trusts=setup.trusts)
            server = Server(dataset, door, setup.limits, setup.tls)
            health = HealthEndpoint(dataset, door, server.counts, setup.limits)
            stay_on_one()
            asyncio.run(_run(server, health, options, setup))
        finally:
            renewal.close()
            dataset.close()


def _log_renewal(line: str) -> None:
    _LOG.info("in the background: %s", line)


async def _run(server: Server, health: HealthEndpoint, options: Options, setup: Setup) -> None:
    import asyncio  # noqa: PLC0415 - other commands don't need it

    stopped, again = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        (again if stopped.is_set() else stopped).set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    taken = await server.listen(options.host, options.port)
    how = "in plaintext" if setup.tls is None else "with TLS"
    echo_err(f"listening on {_address(options.host, taken)}, {how}; {setup.admitted}")
    if options.health_port is not None:
        port = await health.listen(options.health_host, options.health_port)
        echo_err(f"health on {_address(options.health_host, port)}")
    await stopped.wait()
    seconds = setup.limits.drain_seconds
    echo_err(f"stopping: {server.busy} statements run, and have {seconds:g} s to end")
    drained = asyncio.create_task(server.drain())
    waited = asyncio.create_task(again.wait())
    await asyncio.wait({drained, waited}, return_when=asyncio.FIRST_COMPLETED)
    waited.cancel()
    drained.cancel()
    await server.close()


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _allow_many_sockets() -> None:
    """Raise the limit of open files, usually 1,024, since each client takes a socket."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8_192 if hard == resource.RLIM_INFINITY else min(hard, 8_192)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
