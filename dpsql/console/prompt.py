"""The line editor: a prompt with the remaining budget, history, several lines, completion."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.styles import Style
from pygments.lexers.sql import SqlLexer

from dpsql.console.backslash_commands import COMMANDS, command_of
from dpsql.console.completion import SchemaCompleter
from dpsql.console.state import ConsoleState
from dpsql.errors import Error
from dpsql.report.budget import Budget
from dpsql.sqltext.script import is_complete
from dpsql.sqltext.tokens import tokens

_STYLE: Final = Style.from_dict(
    {
        "pygments.keyword": "bold ansibrightblue",
        "pygments.name.builtin": "ansibrightblue",
        "pygments.literal.string": "ansigreen",
        "pygments.literal.number": "ansimagenta",
        "pygments.comment": "ansibrightblack",
        "pygments.operator": "",
    }
)


class Prompt:
    """Reads from a terminal. Ctrl-R searches the history, Ctrl-X Ctrl-E opens the editor."""

    def __init__(self, state: ConsoleState, history: Path) -> None:
        self._state = state
        _private(history)
        self._session: PromptSession[str] = PromptSession(
            multiline=True,
            history=FileHistory(str(history)),
            completer=SchemaCompleter(
                lambda: state.connection.catalog, {c.name: c.meaning for c in COMMANDS.values()}
            ),
            complete_while_typing=False,
            lexer=PygmentsLexer(SqlLexer),
            style=_STYLE,
            key_bindings=_keys(state),
            enable_open_in_editor=True,
            prompt_continuation=lambda width, _line, soft: "" if soft else "..> ".rjust(width),
        )

    def read(self, default: str = "") -> str:
        """The text that was typed; `default` is there at first.

        Raises KeyboardInterrupt for Ctrl-C and EOFError for Ctrl-D.
        """
        return self._session.prompt(
            self._message(),
            default=default,
            placeholder=self._placeholder(),
        )

    def _placeholder(self) -> FormattedText:
        """The proposal, as it stands in the empty prompt. None would leave the one of before."""
        if self._state.proposal is None:
            return FormattedText([])
        return FormattedText([("fg:ansibrightblack", f"{self._state.proposal}  (Tab)")])

    def ask(self, question: str) -> str:
        """The line that was typed as an answer, which isn't added to the history."""
        return input(question)

    def _message(self) -> FormattedText:
        try:
            text, style = left(self._state.connection.budget)
        except Error:
            text, style = "?", "ansired"
        name = self._state.connection.schema.dataset
        return FormattedText([("bold", name), ("", " "), (style, text), ("", "> ")])


def left(budget: Budget) -> tuple[str, str]:
    """The remaining part of the scarcer allowance, and its colour: red if no query fits."""
    allowances = [budget.dataset, budget.own]
    capped = [a for a in allowances if a.epsilon_left is not None and a.epsilon_cap]
    scarcest = min(
        capped, key=lambda a: (a.epsilon_left or Decimal(0)) / (a.epsilon_cap or Decimal(1))
    )
    style = "ansigreen" if budget.queries_left > 5 else "ansiyellow"
    if budget.queries_left < 1:
        style = "ansired"
    return (
        f"ε {float(scarcest.epsilon_left or 0):.3g}/{float(scarcest.epsilon_cap or 0):.3g}",
        style,
    )


def _keys(state: ConsoleState) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        """Enter sends a complete statement, and otherwise begins a new line."""
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif is_complete(buffer.text):
            buffer.validate_and_handle()
        elif (command := _last_line_command(buffer.text)) is not None:
            state.draft, buffer.text = buffer.text.rpartition("\n")[0] + "\n", command
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    @keys.add("tab", filter=Condition(lambda: state.proposal is not None))
    def _(event: KeyPressEvent) -> None:
        """Tab inserts the proposal if nothing is typed, and otherwise completes."""
        buffer = event.current_buffer
        if not buffer.text and state.proposal is not None:
            buffer.insert_text(state.proposal)
        elif buffer.complete_state is not None:
            buffer.complete_next()
        else:
            buffer.start_completion(insert_common_part=True)

    return keys


def _last_line_command(text: str) -> str | None:
    """The command in the last of several lines, unless a quote or a comment is open there."""
    before, _, line = text.rpartition("\n")
    closed = all(token.is_closed for token in tokens(before, in_runs=True))
    return command_of(line) if before and closed else None


def _private(file: Path) -> None:
    """Create a file that only its user may read: statements may quote confidential values."""
    file.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(file, os.O_CREAT | os.O_APPEND, 0o600))
