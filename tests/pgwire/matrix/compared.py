"""What a client printed of each statement, of both servers, and what differs."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgwire.matrix.clients import FOLDER, NPM, Client
from pgwire.matrix.programs.python_script import value
from pgwire.matrix.two_servers import USER, Servers
from pgwire.shop import FIXTURES

from dpsql import connect

SCRIPT = FIXTURES / "matrix" / "script.tsv"
HALF_WIDTHS = 3
"""By how many 95 % half-widths a noisy value may be off: 5.9 standard deviations of a Gaussian."""
Printed = Mapping[str, Sequence[str]]

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A line of the script: public, metadata, private or error, its name, and what is sent."""

    kind: str
    name: str
    line: str


def statements() -> list[Statement]:
    lines = [line.split("\t", 1) for line in SCRIPT.read_text(encoding="utf-8").splitlines()]
    return [Statement(kind, line.partition("\t")[0], line) for kind, line in lines]


def half_widths(schema: Path) -> dict[str, float]:
    """The largest 95 % half-width that dpsql states for each private statement, by its name."""
    widths = {}
    with connect(schema, analyst=USER) as connection:
        for statement in statements():
            if statement.kind == "private":
                _, sql, *words = statement.line.split("\t")
                cursor = connection.execute(sql, [*map(value, words)])
                table = cursor.with_errors().fetch_arrow_table()
                stated = [table[name].to_pylist() for name in table.column_names if "±" in name]
                widths[statement.name] = max(itertools.chain(*stated))
    return widths


def printed(client: Client, words: Sequence[str], servers: Servers, port: int) -> Printed:
    """The lines that the client prints at the server's port, by the statement's name."""
    folders = [FOLDER / "python", Path(__file__).parent.parent.parent]
    path = os.pathsep.join([*map(str, folders), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [*words, "127.0.0.1", str(port), USER, servers.database, *client.last],
        input="".join(f"{s.line}\n" for s in statements()),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
        env=os.environ | {"PYTHONPATH": path, "NODE_PATH": str(NPM), "LC_ALL": "C.UTF-8"},
    )
    assert ran.returncode == 0, (ran.stderr[-2000:], ran.stdout[-500:])
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in ran.stdout.replace(str(port), "PORT").splitlines():
        if line.startswith("== "):
            lines = found[line[3:]] = []
        else:
            lines.append(line)
    return found


def differing(
    ours: Printed, theirs: Printed, widths: Mapping[str, float]
) -> dict[str, tuple[object, object]]:
    """Both servers' lines of the statements of which they differ.

    `widths` has the largest 95 % half-width of each private statement's values, by its name.
    """
    return {
        name: (ours.get(name), theirs.get(name))
        for name in dict.fromkeys([*theirs, *ours])
        if not _alike(ours.get(name), theirs.get(name), widths.get(re.sub(r" by \w+$", "", name)))
    }


def _alike(ours: Sequence[str] | None, theirs: Sequence[str] | None, width: float | None) -> bool:
    if ours is None or theirs is None or width is None:
        return ours == theirs
    return len(ours) == len(theirs) and all(
        _near(a, b, width * HALF_WIDTHS) for a, b in zip(ours, theirs, strict=True)
    )


def _near(ours: str, theirs: str, tolerance: float) -> bool:
    """The same text around numbers that noise may have moved, in heads of columns exactly."""
    if theirs.startswith("--"):
        return ours == theirs
    numbers = [[float(n) for n in _NUMBER.findall(line)] for line in (ours, theirs)]
    return _NUMBER.sub("", ours) == _NUMBER.sub("", theirs) and all(
        abs(a - b) <= tolerance for a, b in zip(*numbers, strict=True)
    )
