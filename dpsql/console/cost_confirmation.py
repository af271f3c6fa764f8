"""Asks before a query that takes much of the remaining budget."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Final

from dpsql.console.backslash_commands import command_of

CONFIRM_ABOVE: Final = Fraction(1, 5)
"""The share of the remaining budget above which a query needs a confirmation."""

Ask = Callable[[str], str]
"""Shows a question and gives the answer that was typed."""


class Consent(Enum):
    """What was answered: to run the query, not to, or not to and to end the console."""

    YES = "yes"
    NO = "no"
    QUIT = "quit"


def confirm(share: Fraction, ask: Ask) -> Consent:
    """Whether a query that takes `share` of the remaining budget may run; no answer means no."""
    if share <= CONFIRM_ABOVE:
        return Consent.YES
    part = "all" if share >= 1 else f"{float(share):.0%}"
    try:
        answer = ask(f"this query takes {part} of what is left of the budget; run it? [y/N] ")
    except (EOFError, KeyboardInterrupt):
        return Consent.NO
    if command_of(answer) == "\\q":
        return Consent.QUIT
    return Consent.YES if answer.strip().casefold() in {"y", "yes"} else Consent.NO
