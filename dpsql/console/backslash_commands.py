r"""The commands that begin with a backslash: `\dt`, `\timing`, `\explain` and the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click

from dpsql.console import schema_listing
from dpsql.console.state import ConsoleState, Edit, NextAction, Quit, Run
from dpsql.errors import BadParameter
from dpsql.report.budget import budget_table
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import plain


@dataclass(frozen=True, slots=True)
class Command:
    r"""A command: its name, and its argument and its meaning as `\?` lists them."""

    name: str
    argument: str
    meaning: str
    run: Callable[[ConsoleState, str], NextAction]


def run_command(state: ConsoleState, text: str) -> NextAction:
    r"""Run the command in `text`, which begins with a backslash; `BadParameter` if unknown."""
    name, _, argument = text.strip().partition(" ")
    command = COMMANDS.get(name.rstrip(";"))
    if command is None:
        raise BadParameter(f"there is no command {sanitize(name)}", hint=r"\? lists the commands")
    return command.run(state, argument.strip().rstrip(";").strip())


def _describe(state: ConsoleState, argument: str) -> NextAction:
    schema = state.connection.catalog
    click.echo(
        schema_listing.columns(schema, argument) if argument else schema_listing.tables(schema)
    )
    return None


def _tables(state: ConsoleState, _: str) -> NextAction:
    click.echo(schema_listing.tables(state.connection.catalog))
    return None


def _datasets(state: ConsoleState, _: str) -> NextAction:
    click.echo(schema_listing.datasets(state.connection.schema))
    return None


def _switch(name: str, what: str) -> Callable[[ConsoleState, str], NextAction]:
    def run(state: ConsoleState, argument: str) -> NextAction:
        if argument.casefold() not in {"", "on", "off"}:
            raise BadParameter(
                f"{what} on or off, not {sanitize(argument)}", hint="write on or off"
            )
        now = argument.casefold() == "on" if argument else not getattr(state.settings, name)
        setattr(state.settings, name, now)
        click.echo(f"{what} {'on' if now else 'off'}")
        return None

    return run


def _output(state: ConsoleState, argument: str) -> NextAction:
    state.settings.output = Path(argument).expanduser() if argument else None
    click.echo(f"answers go to {sanitize(argument) if argument else 'the screen'}")
    return None


def _include(_: ConsoleState, argument: str) -> NextAction:
    if not argument:
        raise BadParameter(r"\i names no file", hint=r"write \i queries.sql")
    try:
        return Run(Path(argument).expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise BadParameter(
            f"{sanitize(argument)} can't be read", hint="name a text file with statements"
        ) from None


def _edit(state: ConsoleState, argument: str) -> NextAction:
    before = argument or (state.last + ";" if state.last else "")
    after = click.edit(before, extension=".sql")
    return None if after is None or not after.strip() else Edit(after.strip())


def _quit(_: ConsoleState, __: str) -> NextAction:
    return Quit()


def _help(_: ConsoleState, __: str) -> NextAction:
    heads = [f"{command.name} {command.argument}".rstrip() for command in COMMANDS.values()]
    width = max(map(len, heads))
    for head, command in zip(heads, COMMANDS.values(), strict=True):
        click.echo(f"{head:<{width}}  {command.meaning}")
    click.echo("\nAnything else is SQL, and ends with a ; as in SELECT 1;")
    return None


def _budget(state: ConsoleState, _: str) -> NextAction:
    budget = budget_table(state.connection.budget)
    click.echo(plain(budget.description, [tuple(row.values()) for row in budget.table.to_pylist()]))
    return None


def _explain(state: ConsoleState, argument: str) -> NextAction:
    sql = argument or state.last
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
