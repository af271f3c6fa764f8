r"""The statements and backslash commands of a script, and whether its last one is complete."""

from __future__ import annotations

import re
from typing import Final

from dpsql.sqltext.split import is_blank, semicolons
from dpsql.sqltext.tokens import Kind, tokens

_COMMAND: Final = re.compile(
    r"\s*(\\[^\n]*|(?:help|exit|quit)[ \t]*;?[ \t]*(?=\n|\Z))\n?", re.IGNORECASE
)
"""Also a line that is one of the words which other prompts know as commands."""


def parts(text: str) -> list[str]:
    r"""The statements of `text`, without their `;`, and its commands.

    Commands are lines that begin with `\`, or that are a word for one where a statement may begin.
    """
    statements: list[str] = []
    at = 0
    while at < len(text):
        if (command := _COMMAND.match(text, at)) is not None:
            statements.append(command[1].rstrip())
            after = command.end()
        else:
            closing = next(semicolons(text, at), None)
            end, after = (len(text),) * 2 if closing is None else (closing.start, closing.end)
            if not is_blank(text[at:end]):
                statements.append(text[at:end])
        at = after
    return statements


def is_complete(text: str) -> bool:
    """Whether `text` is blank, begins with a backslash command, or ends after a `;`."""
    if _COMMAND.match(text):
        return True
    ended, ends = True, {semicolon.start for semicolon in semicolons(text)}
    for token in tokens(text, in_runs=True):
        if token.kind in {Kind.BLANK, Kind.COMMENT}:
            ended = ended and token.is_closed
        else:
            ended = token.start in ends
    return ended
