r"""What begins with a backslash: `\dt`, `\timing`, `\explain` and the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click

from dpsql.console import schema_listing
from dpsql.console.state import Desk, Edit, Next, Quit, Run
from dpsql.errors import BadParameter
from dpsql.report.budget import budget_table
from dpsql.report.terminal.sanitize import visible
from dpsql.report.terminal.table import plain


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, its argument as help shows it, and what it does."""

    name: str
    argument: str
    meaning: str
    run: Callable[[Desk, str], Next]


def run_command(desk: Desk, text: str) -> Next:
    r"""Run the command that `text`, which begins with a backslash, asks for."""
    name, _, argument = text.strip().partition(" ")
    command = COMMANDS.get(name.rstrip(";"))
    if command is None:
        raise BadParameter(f"there is no command {visible(name)}", hint=r"\? lists the commands")
    return command.run(desk, argument.strip().rstrip(";").strip())


def _describe(desk: Desk, argument: str) -> Next:
    schema = desk.connection.catalogue
    click.echo(
        schema_listing.columns(schema, argument) if argument else schema_listing.tables(schema)
    )
    return None


def _tables(desk: Desk, _: str) -> Next:
    click.echo(schema_listing.tables(desk.connection.catalogue))
    return None


def _datasets(desk: Desk, _: str) -> Next:
    click.echo(schema_listing.datasets(desk.connection.schema))
    return None


def _switch(name: str, what: str) -> Callable[[Desk, str], Next]:
    def run(desk: Desk, argument: str) -> Next:
        if argument.casefold() not in {"", "on", "off"}:
            raise BadParameter(f"{what} on or off, not {visible(argument)}", hint="write on or off")
        now = argument.casefold() == "on" if argument else not getattr(desk.settings, name)
        setattr(desk.settings, name, now)
        click.echo(f"{what} {'on' if now else 'off'}")
        return None

    return run


def _output(desk: Desk, argument: str) -> Next:
    desk.settings.output = Path(argument).expanduser() if argument else None
    click.echo(f"answers go to {visible(argument) if argument else 'the screen'}")
    return None


def _include(_: Desk, argument: str) -> Next:
    if not argument:
        raise BadParameter(r"\i names no file", hint=r"write \i queries.sql")
    try:
        return Run(Path(argument).expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise BadParameter(
            f"{visible(argument)} can't be read", hint="name a text file with statements"
        ) from None


def _edit(desk: Desk, argument: str) -> Next:
    before = argument or (desk.last + ";" if desk.last else "")
    after = click.edit(before, extension=".sql")
    return None if after is None or not after.strip() else Edit(after.strip())


def _quit(_: Desk, __: str) -> Next:
    return Quit()


def _help(_: Desk, __: str) -> Next:
    heads = [f"{command.name} {command.argument}".rstrip() for command in COMMANDS.values()]
    width = max(map(len, heads))
    for head, command in zip(heads, COMMANDS.values(), strict=True):
        click.echo(f"{head:<{width}}  {command.meaning}")
    click.echo("\nAnything else is SQL, and ends with a ; as in SELECT 1;")
    return None


def _budget(desk: Desk, _: str) -> Next:
    found = budget_table(desk.connection.budget)
    click.echo(plain(found.description, [tuple(row.values()) for row in found.table.to_pylist()]))
    return None


def _explain(desk: Desk, argument: str) -> Next:
    sql = argument or desk.last
    if not sql:
        raise BadParameter(
            "there is no query to explain yet", hint=r"write \explain SELECT …, or ask one first"
        )
    return Run(f"EXPLAIN PRIVACY {sql};")


COMMANDS: Final[Mapping[str, Command]] = MappingProxyType(
    {
        command.name: command
        for command in (
            Command("\\d", "[TABLE]", "tables, or the columns of one", _describe),
            Command("\\dt", "", "tables", _tables),
            Command("\\l", "", "the dataset, and where it lies", _datasets),
            Command("\\budget", "", "what was spent and what is left", _budget),
            Command("\\explain", "[QUERY]", "proof and price of a query, or of the last", _explain),
            Command("\\noise", "[on|off]", "± beside noisy values", _switch("noise", "± is")),
            Command(
                "\\errors",
                "[on|off]",
                "± columns in files and pipes",
                _switch("errors", "± columns are"),
            ),
            Command(
                "\\dry",
                "[on|off]",
                "only explain queries",
                _switch("dry", "dry is"),
            ),
            Command("\\timing", "[on|off]", "how long it took", _switch("timing", "timing is")),
            Command(
                "\\x", "[on|off]", "columns one below the other", _switch("expanded", "expanded is")
            ),
            Command("\\o", "[FILE]", "add answers to a file (.csv, .json, .md), or back", _output),
            Command("\\i", "FILE", "run the statements of a file", _include),
            Command("\\e", "[QUERY]", "edit the last query in $EDITOR", _edit),
            Command("\\?", "", "this list", _help),
            Command("\\q", "", "the end, as Ctrl-D", _quit),
        )
    }
)
