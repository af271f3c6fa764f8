"""What a client printed of each statement, of both servers, and what differs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgwire.matrix.clients import FOLDER, NPM, Client
from pgwire.matrix.two_servers import USER, Servers
from pgwire.shop import FIXTURES

SCRIPT = FIXTURES / "matrix" / "script.tsv"
NOISE = 0.4
"""The part by which an answer over private rows may be off: it has an epsilon of 0.5."""
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


PRIVATE = frozenset(s.name for s in statements() if s.kind == "private")


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


def differing(ours: Printed, theirs: Printed) -> dict[str, tuple[object, object]]:
    """Both servers' lines of the statements of which they differ."""
    return {
        name: (ours.get(name), theirs.get(name))
        for name in dict.fromkeys([*theirs, *ours])
        if not _alike(name, ours.get(name), theirs.get(name))
    }


def _alike(name: str, ours: Sequence[str] | None, theirs: Sequence[str] | None) -> bool:
    if ours is None or theirs is None or re.sub(r" by \w+$", "", name) not in PRIVATE:
        return ours == theirs
    return len(ours) == len(theirs) and all(map(_near, ours, theirs))


def _near(ours: str, theirs: str) -> bool:
    """The same text around numbers that noise may have moved, in heads of columns exactly."""
    if theirs.startswith("--"):
        return ours == theirs or _NUMBER.sub("", ours) == _NUMBER.sub("", theirs)
    numbers = [[float(n) for n in _NUMBER.findall(line)] for line in (ours, theirs)]
    return _NUMBER.sub("", ours) == _NUMBER.sub("", theirs) and all(
        abs(a - b) <= max(NOISE * abs(b), 0.1) for a, b in zip(*numbers, strict=False)
    )
