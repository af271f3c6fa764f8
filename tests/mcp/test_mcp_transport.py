"""The process: what it writes where, how it ends, and the same over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from assistant import COUNT, GROUPS, charges, command, environment
from cli.cli_run import commands_below
from mcp import Client
from waiting import HANGS_AFTER

from dpsql.cli.main import commands

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a client", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@contextmanager
def running(schema: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        command(schema, *options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def send(process: subprocess.Popen[bytes], *messages: object) -> None:
    assert process.stdin is not None
    for message in messages:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        process.stdin.write(line + b"\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[bytes], number: int) -> dict[str, Any]:
    """The answer to call `number`; every line before it is protocol, too."""
    assert process.stdout is not None
    for line in process.stdout:
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        if message.get("id") == number:
            return message
    raise AssertionError("it left without an answer")


def test_stdout_has_nothing_but_the_protocol(company: Path) -> None:
    with running(company, "--max-total", "3") as process:
        assert process.stdin is not None
        send(process, INITIALIZE, INITIALIZED)
        assert answer(process, 1)["result"]["serverInfo"]["name"] == "dpsql"
        send(process, b"not json", b"\xff\xfe", b'{"jsonrpc": "2.0"}', b"[" * 100_000)
        send(process, b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\ud800"}}')
        send(process, call(2, "query", sql=COUNT), call(3, "query", sql="SELECT * FROM staff"))
        assert not answer(process, 2)["result"]["isError"]
        assert answer(process, 3)["result"]["isError"]
        for wrong in ("NaN", "Infinity", "-Infinity", "1e999"):
            line = json.dumps(call(4, "query", sql=GROUPS, epsilon=0.123))
            send(process, line.replace("0.123", wrong).encode())
            assert answer(process, 4)["result"]["isError"], wrong
        send(process, call(5, "query", sql=GROUPS))
        assert not answer(process, 5)["result"]["isError"]
        process.stdin.close()
        assert process.stdout is not None
        assert process.stderr is not None
        for answered in process.stdout.read().splitlines():
            assert json.loads(answered)["jsonrpc"] == "2.0"
        assert process.wait(HANGS_AFTER) == 0
        assert b"Traceback" not in process.stderr.read()
    assert len(charges(company)) == 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_while_its_client_is_silent(
    company: Path, number: signal.Signals, code: int
) -> None:
    with running(company) as process:
        send(process, INITIALIZE, INITIALIZED)
        answer(process, 1)
        process.send_signal(number)
        assert process.wait(HANGS_AFTER) == code


def test_what_it_is_started_with_is_told_before_anything_is_served(tmp_path: Path) -> None:
    schema = tmp_path / "schema.yaml"
    schema.write_text("dataset: nothing\n")
    ended = subprocess.run(
        command(schema), input=b"", capture_output=True, env=environment(), check=False
    )
    assert ended.returncode == 1
    assert ended.stdout == b""
    assert b"sqlstate: F0000" in ended.stderr
    ended = subprocess.run(
        command(schema, "--max-cost", "nan"), capture_output=True, env=environment(), check=False
    )
    assert ended.returncode == 2
    assert b"--max-cost nan: write" in ended.stderr


def test_without_the_sdk_the_command_says_what_to_install(company: Path) -> None:
    program = (
        "import sys; sys.modules['mcp'] = None\n"
        "from dpsql.cli.main import main\n"
        f"sys.argv = ['dpsql', 'mcp', {str(company)!r}]\nmain()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment(), check=False
    )
    assert ended.returncode == 2
    assert b"[mcp]'" in ended.stderr
    assert "mcp" in dict(commands_below(commands))


@contextmanager
def over_http(schema: Path, *options: str) -> Iterator[str]:
    with running(schema, "--http", "0", *options) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
        assert found, line
        yield found[0]
        process.terminate()
        assert process.wait(HANGS_AFTER) in {0, -signal.SIGTERM}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_clients_over_http_share_the_limits(company: Path, mode: Any) -> None:
    async def one(address: str, sql: str) -> bool:
        async with Client(address, mode=mode) as client:
            await client.list_tools()
            result = await client.call_tool("query", {"sql": sql})
            return not result.is_error

    with over_http(company, "--max-total", "0.5") as address:
        assert asyncio.run(one(address, COUNT))
        assert not asyncio.run(one(address, GROUPS))
        assert asyncio.run(one(address, COUNT))
    assert len(charges(company)) == 1


def test_a_page_of_another_site_isnt_answered(company: Path) -> None:
    with over_http(company) as address:
        headers = {"accept": "application/json, text/event-stream"}
        for more in ({"origin": "https://example.org"}, {"host": "example.org"}):
            found = httpx2.post(address, json=INITIALIZE, headers=headers | more)
            assert found.status_code in {403, 421}
        assert httpx2.post(address, json=INITIALIZE, headers=headers).status_code == 200


def test_a_port_that_is_taken_is_told(company: Path) -> None:
    with over_http(company) as address:
        port = address.split(":")[2].split("/")[0]
        ended = subprocess.run(
            command(company, "--http", port), capture_output=True, env=environment(), check=False
        )
    assert ended.returncode == 1
    assert b"address already in use" in ended.stderr


def test_a_client_that_leaves_stops_what_it_asked(company: Path) -> None:
    with running(company) as process:
        assert process.stdin is not None
        from assistant import LONG_AND_PUBLIC

        send(process, INITIALIZE, INITIALIZED)
        answer(process, 1)
        send(process, call(2, "query", sql=LONG_AND_PUBLIC))
        process.stdin.close()
        assert process.wait(HANGS_AFTER) == 0
    assert Path(company).exists()
