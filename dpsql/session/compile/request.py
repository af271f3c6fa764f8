"""What a statement's releases are for: its answer, or a synopsis of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, assert_never

from dpsql.bind.saved_release import SavedReleaseNames
from dpsql.bind.statement import Statement
from dpsql.bind.statements.create_synopsis import bind_synopsis
from dpsql.bind.syntax.parameter import Parameters
from dpsql.schema.model import Schema

Binder = Callable[[str, Schema, Parameters, SavedReleaseNames], Statement]
"""Text → a logical plan."""


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """The answer of a statement: each of its statistics is released with noise of its own."""


@dataclass(frozen=True, slots=True)
class SynopsisRequest:
    """Estimated counts of all combinations of keys, by MWEM in so many `rounds`.

    It spends `epsilon`, whatever the options say.
    """

    rounds: int
    epsilon: Fraction


Request: TypeAlias = AnswerRequest | SynopsisRequest

ANSWER: Final = AnswerRequest()


def binder_of(request: Request, bind: Binder) -> Binder:
    """How the statement of `request` is bound; `bind` binds one that is to be answered."""
    match request:
        case AnswerRequest():
            return bind
        case SynopsisRequest():
            return bind_synopsis
        case missing:
            assert_never(missing)
