"""A command run in this process, and what it left behind."""

from __future__ import annotations

import io
import math
import sys
from dataclasses import dataclass
from typing import Protocol

import click
import pytest

from dpsql.cli.main import main
from dpsql.cli.prepare import command as prepare_command
from dpsql.report.terminal import progress


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str
    raw: bytes


class Run(Protocol):
    """`dpsql ARGUMENTS…` with `stdin`; none of its streams is a terminal."""

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Ended: ...


def runner(monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: object, stdin: bytes = b"") -> Ended:
        streams = {name: io.BytesIO() for name in ("stdout", "stderr")}
        wrappers = {n: io.TextIOWrapper(s, encoding="utf-8") for n, s in streams.items()}
        with monkeypatch.context() as patch:
            patch.setenv("COLUMNS", "80")
            # This process goes on, and other tests measure its memory.
            patch.setattr(prepare_command, "keep_freed_memory", lambda: None)
            # How far a slow machine is would stand among what the command says.
            patch.setattr(progress, "AFTER_SECONDS", math.inf)
            patch.setattr(sys, "argv", ["dpsql", *map(str, arguments)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            for name, wrapper in wrappers.items():
                patch.setattr(sys, name, wrapper)
            with pytest.raises(SystemExit) as ended:
                main()
            for wrapper in wrappers.values():
                wrapper.flush()
        out, err = (streams[name].getvalue() for name in ("stdout", "stderr"))
        text = out.decode("utf-8", "replace")
        return Ended(int(ended.value.code or 0), text, err.decode(), out)

    return run


def commands_below(command: click.Command) -> list[tuple[str, click.Command]]:
    """The commands of a group, by their names; none of another command."""
    if not isinstance(command, click.Group):
        return []
    context = click.Context(command)
    named = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return [(name, sub) for name, sub in named.items() if sub is not None]
