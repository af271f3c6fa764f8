"""What a statement's releases are for: its answer, an alert, a synopsis, or a dashboard."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Final, TypeAlias, assert_never

from msgspec import Struct

from dpsql.bind.saved_release import SavedReleaseNames
from dpsql.bind.statement import Statement, bind_calibration
from dpsql.bind.statements.calibrate import LadderPart
from dpsql.bind.statements.create_dashboard import bind_dashboard
from dpsql.bind.statements.create_synopsis import bind_synopsis
from dpsql.bind.syntax.parameter import Parameters
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema

Binder = Callable[[str, Schema, Parameters, SavedReleaseNames], Statement]
"""Text → a logical plan."""


class LadderRequest(Struct, frozen=True):
    """One part of a calibration, which spends `share` of the statement's loss."""

    part: LadderPart
    share: Fraction


class AnswerRequest(Struct, frozen=True):
    """The answer of a statement: each of its statistics is released with noise of its own.

    `ladder`: the statement is a calibration, and this part of it is answered.
    """

    ladder: LadderRequest | None = None


class AlertRequest(Struct, frozen=True):
    """An alert that is kept, and checked about so often as `checks`.

    It spends `epsilon`, whatever the options say, when it is made.
    """

    epsilon: Fraction
    checks: int


class SynopsisRequest(Struct, frozen=True):
    """Estimated counts of all combinations of keys, by MWEM in at most so many `rounds`.

    None is as many as its noise is best cut into. It spends `epsilon`, whatever the options say.
    """

    rounds: int | None
    epsilon: Fraction


class DashboardRequest(Struct, frozen=True):
    """Estimated counts and sums of all combinations of keys, planned for the charts of a dashboard.

    It spends `epsilon`, whatever the options say; where it takes the place of some `queries` in a
    batch, the loss that `epsilon` is of each of them.
    """

    epsilon: Fraction
    queries: int = 1


TableRequest: TypeAlias = SynopsisRequest | DashboardRequest
"""A whole table of all combinations of keys is kept, made by a mechanism of its own."""

Request: TypeAlias = AnswerRequest | AlertRequest | TableRequest

ANSWER: Final = AnswerRequest()


def kind_of(request: Request) -> str:
    """What CREATE and DROP call a table that is kept of `request`."""
    match request:
        case AnswerRequest():
            return "release"
        case AlertRequest():
            return "alert"
        case SynopsisRequest():
            return "synopsis"
        case DashboardRequest():
            return "dashboard"
        case missing:
            assert_never(missing)


def share_of_loss(request: Request, loss: PrivacyLoss) -> PrivacyLoss:
    """What `request` may spend of the loss that its statement asks for."""
    match request:
        case AnswerRequest(ladder=LadderRequest(share=share)):
            return PrivacyLoss(loss.accounting, loss.amount * share, loss.delta * share)
        case DashboardRequest(queries=queries):
            return PrivacyLoss(loss.accounting, loss.amount * queries, loss.delta * queries)
        case AnswerRequest() | AlertRequest() | SynopsisRequest():
            return loss
        case missing:
            assert_never(missing)


def binder_of(request: Request, bind: Binder) -> Binder:
    """How the statement of `request` is bound; `bind` binds one that is to be answered."""
    match request:
        case AnswerRequest(ladder=ladder):
            return bind if ladder is None else partial(bind_calibration, ladder.part)
        case AlertRequest():
            return bind
        case SynopsisRequest():
            return bind_synopsis
        case DashboardRequest():
            return bind_dashboard
        case missing:
            assert_never(missing)
