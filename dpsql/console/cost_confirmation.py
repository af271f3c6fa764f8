"""Asks before a query that takes much of the remaining budget."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

CONFIRM_ABOVE: Final = Fraction(1, 5)
"""The share of the remaining budget above which a query needs a confirmation."""

Ask = Callable[[str], str]
"""Shows a question and gives the answer that was typed."""


def confirm(share: Fraction, ask: Ask) -> bool:
    """Whether a query that takes `share` of the remaining budget may run; no answer means no."""
    if share <= CONFIRM_ABOVE:
        return True
    part = "all" if share >= 1 else f"{float(share):.0%}"
    try:
        answer = ask(f"this query takes {part} of what is left of the budget; run it? [y/N] ")
    except (EOFError, KeyboardInterrupt):
        return False
    return answer.strip().casefold() in {"y", "yes"}
