"""Reads, asks, prints, until the end of input."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Final

import click
from rich.console import Console as Screen

from dpsql.console.backslash_commands import command_of, run_command
from dpsql.console.cost_confirmation import Ask, Consent, confirm
from dpsql.console.named_queries import NamedQueries
from dpsql.console.state import ConsoleState, Edit, Quit, Run, Show, ShownAnswer
from dpsql.console.statement_progress import Work
from dpsql.dbapi.connection import EXPLAINED, Connection
from dpsql.dbapi.cursor import Cursor
from dpsql.dbapi.suggested_fix import proposal
from dpsql.errors import BadParameter, BudgetSpent, Error
from dpsql.report.cost import cost
from dpsql.report.export import csv, json
from dpsql.report.terminal.answer_table import RowErrors, records, table
from dpsql.report.terminal.error_message import describe
from dpsql.report.terminal.progress import Cancelled
from dpsql.report.terminal.sanitize import sanitize, sanitize_lines
from dpsql.report.terminal.table import markdown, plain
from dpsql.schema.model import Schema
from dpsql.session.session import Session
from dpsql.sqltext.script import parts

_HELLO: Final = r"dpsql on {name}. Statements end with ;  help lists commands, quit ends."


class Console:
    """One analyst at a prompt. `failure` is the last error of a text that was run, if any."""

    def __init__(
        self, schema: Path, *, analyst: str, epsilon: float | None, named: Path | None = None
    ) -> None:
        self._work = Work()
        session = Session(schema, analyst=analyst, epsilon=epsilon, progress=self._work.step)
        self._state = ConsoleState(Connection(session), Screen(highlight=False))
        self._state.named = None if named is None else NamedQueries(named)
        self._default = ""
        self._notices: deque[str] = deque(maxlen=1)
        self._interactive = False
        self.failure: Error | None = None

    @property
    def schema(self) -> Schema:
        """The schema as it was read when the console began."""
        return self._state.connection.schema

    def notice(self, line: str) -> None:
        """Say this before the next prompt, unless there is something newer to say by then."""
        self._notices.append(line)

    def interact(self, history: Path) -> None:
        """Prompt until Ctrl-D or a quit."""
        from dpsql.console.prompt import Prompt  # noqa: PLC0415 - only a terminal needs it

        state, self._interactive = self._state, True
        with closing(state.connection):
            prompt = Prompt(state, history)
            click.echo(_HELLO.format(name=state.connection.schema.dataset))
            while True:
                default, self._default = self._default or state.draft, ""
                state.draft = ""
                while self._notices:
                    notice = sanitize(f"in the background: {self._notices.popleft()}")
                    self._say(click.style(notice, dim=True))
                try:
                    text = prompt.read(default)
                except KeyboardInterrupt:
                    continue
                except EOFError:
                    return
                state.proposal = None
                if not self.run(text, prompt.ask):
                    return

    def batch(self, text: str) -> None:
        """Run all of `text` until the first failure, as a program sends it: nobody is asked."""
        with closing(self._state.connection):
            for part in parts(text):
                if not self.run(part) or self.failure is not None:
                    return

    def run(self, text: str, ask: Ask | None = None) -> bool:
        """Run statements or one command; tell whether there is more to come."""
        waiting = deque(parts(text))
        while waiting:
            part = waiting.popleft()
            try:
                command = command_of(part)
                if command is None:
                    if self._statement(part, ask):
                        continue
                    return False
                match run_command(self._state, command):
                    case Run(text=more):
                        waiting.extendleft(reversed(list(parts(more))))
                    case Edit(text=more):
                        self._default = more
                    case Show(cursor=cursor):
                        self._show(cursor.again())
                    case Quit():
                        return False
                    case None:
                        pass
            except Error as error:
                self._refused(error, part)
                return True
            except Cancelled as cancelled:
                stands = "its charge stands" if cancelled.charged else "nothing was charged"
                self._say(f"cancelled; {stands}")
                return True
        return True

    def _statement(self, sql: str, ask: Ask | None) -> bool:
        """Run one statement, if it is to run; tell whether there is more to come."""
        state = self._state
        connection = state.connection
        began = time.monotonic()
        if state.settings.dry:
            explanation = self._work.run(lambda: connection.explain(sql), connection.interrupt)
            click.echo(sanitize_lines(str(explanation)))
            return True
        if ask is not None:
            share = self._work.run(lambda: _share(connection, sql), connection.interrupt)
            consent = confirm(share, ask)
            if consent is not Consent.YES:
                click.echo("not run; nothing was charged")
                return consent is not Consent.QUIT
        cursor = self._work.run(lambda: connection.execute(sql), connection.interrupt)
        seconds = time.monotonic() - began
        privacy = cursor.privacy
        if privacy is not None:
            state.last = sql.strip()
            state.shown.appendleft(ShownAnswer(sql.strip(), cursor))
        self._show(cursor)
        if privacy is not None:
            for line in (cost(privacy, connection.budget), *privacy.notes):
                self._say(click.style(line, dim=True))
        if state.settings.timing:
            self._say(f"{seconds:.3f} s")
        return True

    def _show(self, cursor: Cursor) -> None:
        columns, state = cursor.description, self._state
        if columns is None:
            return
        is_screen = sys.stdout.isatty() and state.settings.output is None
        if state.settings.errors and not is_screen:
            cursor = cursor.with_errors()
            columns = cursor.description or ()
        if state.settings.output is not None:
            _add(state.settings.output, cursor)
            return
        if [column[0] for column in columns] == [EXPLAINED]:
            self._page("\n".join(sanitize_lines(str(line)) for (line,) in cursor))
            return
        if not sys.stdout.isatty() or cursor.privacy is None:
            self._page(plain(columns, cursor.fetchall()))
            return
        shape = records if state.settings.expanded else table
        errors = RowErrors(cursor.half_widths or [], cursor.clamped)
        rows, shown = cursor.fetchall(), cursor.privacy.shown_columns
        with state.screen.capture() as drawn:
            state.screen.print(shape(columns, rows, shown, errors, noise=state.settings.noise))
        self._page(drawn.get().rstrip("\n"))

    def _page(self, text: str) -> None:
        """Show a text, by a pager if it is longer than the screen."""
        long = text.count("\n") + 2 > self._state.screen.height
        if self._interactive and self._state.settings.pager and long and sys.stdout.isatty():
            # What fits on a screen after all is shown at once, colours are kept.
            os.environ.setdefault("LESS", "-FRSX")
            click.echo_via_pager(text + "\n", color=True)
            return
        click.echo(text)

    def _say(self, text: str) -> None:
        """What isn't an answer goes beside the answers, where these are piped somewhere."""
        click.echo(text, err=not self._interactive)

    def _refused(self, error: Error, sql: str) -> None:
        self.failure = error
        self._say(describe(error, sql))
        self._state.proposal = None if isinstance(error, BudgetSpent) else proposal(error, sql)


def _share(connection: Connection, sql: str) -> Fraction:
    """What is refused takes nothing; why it is, is said and noted when it is run."""
    try:
        return connection.share(sql)
    except Error:
        return Fraction(0)


def _add(path: Path, cursor: Cursor) -> None:
    """Add an answer to a file, in the form that its name asks for."""
    columns = cursor.description or ()
    names, rows = [column[0] for column in columns], cursor.fetchall()
    match path.suffix.lower():
        case ".csv":
            text = csv(names, rows)
        case ".json":
            text = json(names, rows)
        case ".md":
            text = markdown(columns, rows) + "\n"
        case _:
            text = plain(columns, rows) + "\n"
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        raise BadParameter(
            f"{sanitize(str(path))} can't be written", hint="name a file in a folder that is there"
        ) from None
