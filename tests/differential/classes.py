"""How each statement of the corpora is answered, as it is recorded beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import yaml
from differential.statement import FIXTURES

LISTS_INDIVIDUALS = (3, 10, 18)
"""The queries of TPC-H that list orders or customers one by one."""

EXACT = (2, 11, 16)
"""Those that read public tables only."""


@dataclass(frozen=True)
class Class:
    """`answered`, `empty`, or refused with an SQLSTATE; a refusal is defended in a sentence."""

    name: str
    defence: str

    @property
    def sqlstate(self) -> str:
        """The refusal's; nothing for an answer."""
        return self.name.removeprefix("refused ") if self.name.startswith("refused ") else ""


@cache
def classes() -> dict[int, Class]:
    """The classes of fixtures/bi/analytic.sql by number."""
    text = (FIXTURES / "bi" / "classes.yaml").read_text(encoding="utf-8")
    return {number: Class(*found) for number, found in yaml.safe_load(text).items()}
