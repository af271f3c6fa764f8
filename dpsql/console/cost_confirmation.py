"""Asks before a query that takes much of what is left."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

CONFIRM_ABOVE: Final = Fraction(1, 5)
"""The share of what is left above which a query is asked about."""

Ask = Callable[[str], str]


def confirm(share: Fraction, ask: Ask) -> bool:
    """Tell whether a query that takes `share` of what is left may run; silence means no."""
    if share <= CONFIRM_ABOVE:
        return True
    part = "all" if share >= 1 else f"{float(share):.0%}"
    try:
        answer = ask(f"this query takes {part} of what is left of the budget; run it? [y/N] ")
    except (EOFError, KeyboardInterrupt):
        return False
    return answer.strip().casefold() in {"y", "yes"}
