"""One client over stdin and stdout, or several over HTTP on this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from dpsql.errors import OperationalError
from dpsql.mcp.options import Options, check
from dpsql.mcp.server import ToolHandlers
from dpsql.mcp.spending_limit import default_epsilon, spending_limit_of
from dpsql.mcp.statement_queue import StatementQueue
from dpsql.mcp.tool_service import ToolService
from dpsql.session.dataset import load_dataset
from dpsql.session.session import Session

HOST: Final = "127.0.0.1"
"""Loopback alone, since clients need no password."""

_PATH: Final = "/mcp"
_SECONDS_TO_END: Final = 8


class PortTaken(OperationalError):
    """The server can't listen on the port."""


def serve(options: Options, tell: Callable[[str], None]) -> None:
    """Serve until the client leaves or a signal comes; `tell` prints the address of HTTP."""
    with opened_server(options) as (server, session):
        if options.http is None:
            asyncio.run(_over_stdio(server, session))
        else:
            asyncio.run(_over_http(server, options.http, tell))


@contextmanager
def opened_server(options: Options) -> Iterator[tuple[Server[Any], Session]]:
    """The SDK's server by `options`, over no transport yet, and the session that it closes."""
    check(options)

    def interrupt() -> None:
        session.interrupt()

    queue = StatementQueue(options.statement_seconds, interrupt)
    schema = load_dataset(options.schema)
    epsilon = default_epsilon(options, schema)
    session = Session(schema, analyst=options.analyst, epsilon=epsilon, progress=queue.step)
    limit = spending_limit_of(options, session)
    service = ToolService(session, limit, lambda: queue.charged)
    try:
        yield ToolHandlers(service, limit, queue).server(), session
    finally:
        service.close()


async def _over_stdio(server: Server[Any], session: Session) -> None:
    def stop(code: int) -> None:
        # A thread waits for stdin, and only a line of input wakes it. Charges are durable already.
        session.interrupt()
        os._exit(code)

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop, 0)
    loop.add_signal_handler(signal.SIGINT, stop, 130)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _over_http(server: Server[Any], port: int, tell: Callable[[str], None]) -> None:
    app = server.streamable_http_app(streamable_http_path=_PATH, host=HOST)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
            listening.listen()  # before the address is printed: a client may connect at once
        except OSError as error:
            reason = (error.strerror or "it can't be used").lower()
            raise PortTaken(
                f"--http {port}: {reason}", hint="write another, or 0 for any"
            ) from None
        tell(f"listening on http://{HOST}:{listening.getsockname()[1]}{_PATH}, in plaintext")
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        await uvicorn.Server(config).serve([listening])
