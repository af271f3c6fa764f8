"""A ledger's entries as people read them, with their sums by time, analyst and statement.

Losses add up in the ledger's own currency (ε, ρ under zcdp, μ² under gdp), so that shares are
shares of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from functools import cache, partial
from typing import assert_never

from msgspec import Struct

from dpsql.ledger.chain.entry import (
    Amended,
    Burned,
    Charged,
    Checkpointed,
    Dropped,
    Entry,
    Opened,
    Paid,
    Released,
    Saved,
    Tightened,
)
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import epsilon_of


class Record(Struct, frozen=True):
    """A charge, an analyst's first look at another's answer, or a change of terms.

    `amount` is the loss that was charged to the dataset, in the ledger's currency, and `epsilon`
    the ε of that loss alone. A look is charged to the reader's own cap only, so its amount is 0.
    """

    entry: int
    at: datetime
    analyst: str
    amount: Fraction
    epsilon: Fraction
    delta: Fraction
    outcome: str
    statement: str
    hash: str


class Point(Struct, frozen=True):
    """The share of the budget that is left from `at` on: 1 is all of it."""

    at: datetime
    left: Fraction


class Share(Struct, frozen=True):
    """The charges of one analyst or of one statement: how many, their ε, their share of the cap."""

    name: str
    times: int
    epsilon: Fraction
    share: Fraction


def rows(schema: Schema, entries: Sequence[Entry]) -> Iterator[Record]:
    """A record for each entry that changed a balance or a cap, in order."""
    outcomes = {
        entry.event.request_id: "answered" if isinstance(entry.event, Released) else "failed"
        for entry in entries
        if isinstance(entry.event, Released | Burned)
    }
    # Cached: converting ρ is slow, and most charges have one of a few sizes.
    converted = cache(partial(epsilon_of, schema))
    for entry in entries:
        match entry.event:
            case Charged(analyst=analyst, loss=loss, query=query, request_id=request):
                outcome = outcomes.get(request, "is running")
                yield _record(converted, entry, analyst, loss, outcome, query)
            case Paid(analyst=analyst):
                yield _record(converted, entry, analyst, None, "seen again", "")
            case Saved(analyst=analyst, name=name):
                yield _record(converted, entry, analyst, None, "named", name)
            case Dropped(analyst=analyst, name=name):
                yield _record(converted, entry, analyst, None, "dropped", name)
            case Opened():
                yield _record(converted, entry, "", None, "ledger opened", "")
            case Amended(reason=reason):
                yield _record(converted, entry, "", None, "ledger amended", reason)
            case Tightened():
                yield _record(converted, entry, "", None, "ledger tightened", "")
            case Released() | Burned() | Checkpointed():
                pass
            case missing:
                assert_never(missing)


def burn_down(entries: Iterable[Entry]) -> tuple[Point, ...]:
    """The share that was left after each entry, of the cap of that time."""
    points: list[Point] = []
    spent, cap = Fraction(0), Fraction(1)
    for entry in entries:
        match entry.event:
            case Opened(terms=terms) | Amended(terms=terms) | Tightened(terms=terms):
                cap = terms.cap.amount
            case Charged(loss=loss):
                spent += loss.amount
            case Released() | Burned() | Paid() | Saved() | Dropped() | Checkpointed():
                continue
            case missing:
                assert_never(missing)
        points.append(Point(entry.at, max(Fraction(0), 1 - spent / cap)))
    return tuple(points)


def spend_by(
    schema: Schema, cap: Fraction, named: Iterable[tuple[str, Record]], limit: int
) -> tuple[Share, ...]:
    """The shares of the `limit` names with the largest sums of charges."""
    sums: dict[str, tuple[int, Fraction]] = {}
    for name, record in named:
        if record.amount:
            times, amount = sums.get(name, (0, Fraction(0)))
            sums[name] = (times + 1, amount + record.amount)
    largest = sorted(sums.items(), key=lambda item: (-item[1][1], item[0]))[:limit]
    return tuple(
        Share(name, times, epsilon_of(schema, amount), amount / cap)
        for name, (times, amount) in largest
    )


def _record(
    epsilon: Callable[[Fraction], Fraction],
    entry: Entry,
    analyst: str,
    loss: PrivacyLoss | None,
    outcome: str,
    text: str,
) -> Record:
    amount, delta = (Fraction(0), Fraction(0)) if loss is None else (loss.amount, loss.delta)
    at, cost = entry.at, epsilon(amount)
    return Record(entry.seq, at, analyst, amount, cost, delta, outcome, text, entry.hash)
