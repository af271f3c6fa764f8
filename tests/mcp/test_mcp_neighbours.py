"""Two servers over neighbouring databases, asked the same: what is free is told in equal bytes.

Every private text cell has a text of its own, which no server ever writes anywhere.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

from assistant import command, environment
from audit.test_worlds_look_alike import CANARY, with_canaries, within
from data.database import attached
from fuzz.mutation import mutant
from fuzz.query import query
from neighbor_search.public_rows import PUBLIC, create_tables
from notes.compiler import FIXTURES
from waiting import HANGS_AFTER

from dpsql.audit.databases.random_databases import neighboring_databases
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.schema.load.load import load_schema

CLINIC = FIXTURES / "clinic" / "schema.yaml"
CALLS = 60
OPTIONS = ("--epsilon", "0.01", "--max-cost", "0.02", "--max-total", "1")
EXTREME = (
    "SELECT sum(cast(city AS bigint)) FROM patients",
    "SELECT sum(1 / (age - age)) FROM patients",
    "SELECT sum(exp(weight * 1000)) FROM patients",
    "SELECT sum(cast(age AS tinyint) * 127) FROM patients",
    "SELECT count(*) FROM patients WHERE regexp_matches(city, '(')",
    "SELECT count(*) FROM patients WHERE cast(city AS date) > DATE '2020-01-01'",
    "SELECT error(city) FROM patients",
    "SELECT city FROM patients",
    "SELECT city, count(*) FROM patients GROUP BY city",
    "SELECT max(city) FROM patients",
)


class World:
    """A server in a process of its own, and all that it has written."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._number = 0
        self.written: list[str] = []
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=CLIENT)

    def ask(self, method: str, **params: Any) -> str:
        """The line that answers."""
        process, self._number = self._process, self._number + 1
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        self.written.append(process.stdout.readline())
        assert json.loads(self.written[-1])["id"] == self._number
        return self.written[-1]


CLIENT = {"name": "a client", "version": "1"}


@contextmanager
def world(folder: Path, rows: Rows) -> Iterator[World]:
    folder.mkdir()
    path, text = folder / "schema.yaml", CLINIC.read_text()
    path.write_text(text)
    with attached(folder / "clinic.duckdb") as made:
        create_tables(made, load_schema(CLINIC), rows)
    settings = {**environment(), "DPSQL_STATE": str(folder / "state")}
    with (
        (folder / "stderr.txt").open("w") as errors,
        subprocess.Popen(
            command(path, *OPTIONS),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=settings,
            text=True,
        ) as process,
    ):
        yield World(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(HANGS_AFTER) == 0


@contextmanager
def worlds(folder: Path, seed: str) -> Iterator[list[World]]:
    schema = load_schema(CLINIC)
    pair = next(neighboring_databases(schema, PUBLIC["clinic"], Random(seed), frozenset()))
    marked = with_canaries(schema, pair.full)
    fewer = {name: within(pair.full, marked, pair.pair[1], name) for name in marked}
    with ExitStack() as stack:
        yield [
            stack.enter_context(world(folder / f"world{number}", rows))
            for number, rows in enumerate((marked, fewer))
        ]


def free(random: Random) -> tuple[str, dict[str, Any]]:
    """A call that spends nothing."""
    sql = query(random) if random.random() < 0.7 else mutant(random)[1]
    # Half a surrogate pair is no JSON, and gets no answer (test_mcp_transport.py).
    sql = sql.encode(errors="replace").decode()
    table = random.choice(["patients", "visits", "tests", "doctors", "readings", "nobody"])
    arguments: dict[str, dict[str, Any]] = {
        "explain": {"sql": sql},
        "describe_table": {"table": table},
        "list_tables": {"search": table[:3]},
        "budget": {},
        "explain_batch": {"statements": [sql, query(random)]},
    }
    tool = random.choices(list(arguments), [10, 2, 1, 1, 3])[0]
    if tool == "explain" and random.random() < 0.3:
        arguments[tool]["max_error"] = random.choice([1, 10, 1000])
    return "tools/call", {"name": tool, "arguments": arguments[tool]}


def told(line: str) -> Any:
    """All of an answer but its noisy rows, what notes say of them, and its receipt's hash."""
    result = json.loads(line)["result"]
    fields = result["structuredContent"]
    if result["isError"]:
        return line
    shown = {name: fields[name] for name in ("columns", "budget", "notes", "offset")}
    cost = {k: v for k, v in (fields["cost"] or {}).items() if k != "receipt"}
    notes = [note for note in fields["notes"] if not any(of in note for of in OF_NOISY_ROWS)]
    return shown | {"cost": cost, "notes": notes}


OF_NOISY_ROWS = (
    "are NULL, since their groups may be empty",
    "stand at an end of all that they can",
)
"""Notes count such values of an answer: noise decides how many there are."""


def test_what_is_free_is_told_in_equal_bytes_and_errors_tell_nothing(tmp_path: Path) -> None:
    random = Random("neighbours")
    with worlds(tmp_path, "assistants") as (one, other):
        for method in ("tools/list", "resources/list"):
            assert one.ask(method) == other.ask(method)
        for number in range(CALLS):
            method, params = free(random)
            assert one.ask(method, **params) == other.ask(method, **params), params
            if number % 4 == 0:
                sql = EXTREME[number // 4] if number // 4 < len(EXTREME) else query(random)
                paid = {"name": "query", "arguments": {"sql": sql}}
                lines = [each.ask("tools/call", **paid) for each in (one, other)]
                assert told(lines[0]) == told(lines[1]), sql
        for uri in ("dpsql://budget", "dpsql://tables", "dpsql://releases"):
            assert one.ask("resources/read", uri=uri) == other.ask("resources/read", uri=uri)
        seen = [*one.written, *other.written]
    kept = [p.read_bytes().decode("latin-1") for p in tmp_path.rglob("*") if p.is_file()]
    sources = [text for text in kept if CANARY in text]
    assert len(sources) == 2
    assert not any(CANARY in line for line in seen)
    assert any('"isError":false' in line.replace(" ", "") for line in seen)
    for path in tmp_path.rglob("stderr.txt"):
        # Why the engine fails can depend on rows, and a client shows this to whom it likes.
        assert "in the engine" not in path.read_text()
