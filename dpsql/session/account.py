"""The ledger of a schema, which holds the owner to what was agreed: looser schemas are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import assert_never

from dpsql.errors import BudgetSpent, Error, LedgerFault, Refused, WouldShowIndividuals
from dpsql.ledger.backend import Location, Server
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.opening import exists
from dpsql.schema.looser import loosened
from dpsql.schema.model import Schema
from dpsql.session.grant import ledger_terms


def ledger_location(schema: Schema) -> Location:
    """Where the ledger is, as its text shows it: without a password."""
    match schema.ledger:
        case Path() as path:
            return path
        case str() as url:
            return Server(url, schema.dataset)
        case missing:
            assert_never(missing)


def open_ledger(schema: Schema, *, create: bool = True) -> Ledger:
    """The ledger under the caps of `schema`, made if there is none and `create` allows it."""
    ledger = Ledger.open(
        ledger_location(schema), schema.anchor, ledger_terms(schema), create=create
    )
    try:
        _hold_to(schema, ledger)
    except BaseException:
        ledger.close()
        raise
    return ledger


@contextmanager
def existing_ledger(schema: Schema) -> Iterator[Ledger | None]:
    """The ledger of `schema`, None if there is none yet."""
    if not exists(ledger_location(schema), schema.anchor):
        yield None
        return
    with open_ledger(schema, create=False) as ledger:
        yield ledger


@contextmanager
def recorded_ledger(schema: Schema) -> Iterator[Ledger]:
    """The ledger under its own terms, whatever the schema says now: for its owner."""
    with Ledger.as_recorded(ledger_location(schema), schema.anchor) as ledger:
        yield ledger


@contextmanager
def noting_refusals(
    schema: Schema, opened: Callable[[], Ledger | None], analyst: str, sql: str
) -> Iterator[None]:
    """Refusals are kept for the owner to see; a dataset that was never charged keeps none."""
    try:
        yield
    except (Refused, WouldShowIndividuals, BudgetSpent) as refusal:
        # Whatever goes wrong here, the analyst is told of the refusal.
        with suppress(Error):
            mine = opened()
            with existing_ledger(schema) if mine is None else nullcontext(mine) as ledger:
                if ledger is not None:
                    ledger.refuse(analyst, refusal.sqlstate, sql, refusal.message)
        raise


def _hold_to(schema: Schema, ledger: Ledger) -> None:
    agreed = ledger.terms
    if agreed.policy_hash == schema.policy_hash:
        return
    changes = loosened(agreed.policy, schema.policy)
    if changes:
        raise LedgerFault(
            "the schema is looser than what the ledger was opened with: " + "; ".join(changes),
            hint=f"the owner can agree: dpsql ledger amend {schema.path} --reason '…'",
        )
