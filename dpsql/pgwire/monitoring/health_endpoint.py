"""Serves the metrics by HTTP, for Prometheus and for health checks."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from dpsql.pgwire.limits import Limits
from dpsql.pgwire.login.authentication import Authenticator
from dpsql.pgwire.monitoring.metrics import Counts, ledger_metrics, metrics
from dpsql.pgwire.shared_dataset import Dataset


class HealthEndpoint:
    """Answers every HTTP request, whatever its path, with all metrics."""

    def __init__(
        self, dataset: Dataset, authenticator: Authenticator, counts: Counts, limits: Limits
    ) -> None:
        self._dataset = dataset
        self._authenticator = authenticator
        self._counts = counts
        self._limits = limits

    async def listen(self, host: str, port: int) -> int:
        """Answer requests from now on, until the process ends; returns the port."""
        self._server = await asyncio.start_server(self._tell, host, port)
        return int(self._server.sockets[0].getsockname()[1])

    async def _tell(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError, ValueError):
            async with asyncio.timeout(self._limits.login_seconds):
                await reader.readuntil(b"\r\n\r\n")
            body = (await asyncio.get_running_loop().run_in_executor(None, self._text)).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}"
            writer.write(head.encode() + b"\r\nConnection: close\r\n\r\n" + body)
            await writer.drain()
        writer.close()

    def _text(self) -> str:
        pool, catalog_workers = self._dataset.pool, self._dataset.catalog_workers
        counted = metrics(
            self._counts,
            refused=self._authenticator.refused,
            replaced=pool.replaced + catalog_workers.pool.replaced,
            waiting=pool.waiting + self._dataset.line.waiting + catalog_workers.waiting,
        )
        return counted + ledger_metrics(self._dataset.snapshot().schema)
