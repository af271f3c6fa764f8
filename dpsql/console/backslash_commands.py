r"""The commands that begin with a backslash: `\dt`, `\timing`, `\explain` and the others."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click
from msgspec import Struct

from dpsql.console import schema_listing, statement_help
from dpsql.console.named_queries import NamedQueries
from dpsql.console.state import ConsoleState, Edit, NextAction, Quit, Run, Show
from dpsql.errors import BadParameter
from dpsql.report.budget import budget_table, enough
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing, plain


class Command(Struct, frozen=True):
    r"""A command: its name, and its argument and its meaning as `\?` lists them."""

    name: str
    argument: str
    meaning: str
    run: Callable[[ConsoleState, str], NextAction]


WORDS: Final[Mapping[str, str]] = MappingProxyType({"help": "\\?", "exit": "\\q", "quit": "\\q"})
"""Words that stand for commands, since other prompts know them."""


def command_of(text: str) -> str | None:
    """The command that `text` is, also if it is a word for one; None if it is something else."""
    typed = text.strip()
    if typed.startswith("\\"):
        return typed
    return WORDS.get(typed.rstrip("; ").casefold())


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


_OUTPUTS: Final = (".csv", ".json", ".md", ".txt", "")


def _output(state: ConsoleState, argument: str) -> NextAction:
    if argument and Path(argument).suffix.lower() not in _OUTPUTS:
        raise BadParameter(
            f"{sanitize(Path(argument).suffix)} is no form that answers are written in",
            hint="name a .csv, .json, .md or .txt file, as in \\o answers.csv",
        )
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


def _shell(_: ConsoleState, argument: str) -> NextAction:
    if not argument:
        raise BadParameter(r"\! names no command", hint=r"write \! ls")
    click.echo(nl=False)  # what was said before stands before it
    ended = subprocess.run(argument, shell=True, check=False)  # noqa: S602 - its user's own shell
    if ended.returncode:
        click.echo(f"it ended with {ended.returncode}", err=True)
    return None


def _functions(_: ConsoleState, argument: str) -> NextAction:
    click.echo(statement_help.functions(argument))
    return None


def _statements(_: ConsoleState, argument: str) -> NextAction:
    click.echo(statement_help.statements(argument))
    return None


def _run_named(state: ConsoleState, argument: str) -> NextAction:
    queries = _named(state)
    if argument:
        return Run(queries.query(argument) + ";")
    rows = [[name, " ".join(query.split())] for name, query in queries.all().items()]
    click.echo(listing(("name", "query"), rows))
    return None


def _save_named(state: ConsoleState, argument: str) -> NextAction:
    name, _, query = argument.partition(" ")
    query = query.strip() or state.last
    if not name or not query:
        raise BadParameter(
            "there is nothing to keep",
            hint=r"write \ns NAME SELECT …, or \ns NAME for the last one",
        )
    _named(state).save(name, query)
    click.echo(f"{sanitize(name)} is kept; \\n {sanitize(name)} runs it")
    return None


def _delete_named(state: ConsoleState, argument: str) -> NextAction:
    _named(state).delete(argument)
    click.echo(f"{sanitize(argument)} is forgotten")
    return None


def _named(state: ConsoleState) -> NamedQueries:
    if state.named is None:
        raise BadParameter("there is no file for named queries", hint="ask at a prompt")
    return state.named


def _again(state: ConsoleState, argument: str) -> NextAction:
    """List the answers that were shown, or show one of them again."""
    if not argument:
        rows = [
            [str(number), str(shown.cursor.rowcount), " ".join(shown.sql.split())]
            for number, shown in enumerate(state.shown, start=1)
        ]
        click.echo(listing(("number", "rows", "statement"), rows))
        return None
    if not argument.isdecimal() or not 1 <= int(argument) <= len(state.shown):
        raise BadParameter(
            f"there is no answer {sanitize(argument)}", hint=r"\r lists those of this console"
        )
    return Show(state.shown[int(argument) - 1].cursor)


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
    budget = state.connection.budget
    shown = budget_table(budget)
    click.echo(plain(shown.description, [tuple(row.values()) for row in shown.table.to_pylist()]))
    click.echo(enough(budget))
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
            Command(
                "\\pager", "[on|off]", "a pager for long answers", _switch("pager", "the pager is")
            ),
            Command("\\r", "[NUMBER]", "answers of before, or one of them again, free", _again),
            Command("\\n", "[NAME]", "named queries, or run one", _run_named),
            Command("\\ns", "NAME [QUERY]", "keep a query, or the last, by a name", _save_named),
            Command("\\nd", "NAME", "forget a named query", _delete_named),
            Command("\\i", "FILE", "run the statements of a file", _include),
            Command("\\e", "[QUERY]", "edit the last query in $EDITOR", _edit),
            Command("\\!", "COMMAND", "run a command of the shell", _shell),
            Command("\\df", "[PATTERN]", "functions that have a rule", _functions),
            Command("\\h", "[WORD]", "statements beside SELECT", _statements),
            Command("\\?", "", "this list, as help", _help),
            Command("\\q", "", "the end, as quit, exit and Ctrl-D", _quit),
        )
    }
)
