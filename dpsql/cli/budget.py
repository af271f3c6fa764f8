"""`dpsql budget`: what was spent and is left, and on what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import assert_never

import click

from dpsql.cli.failure import explained
from dpsql.dbapi.budget import Allowance, Budget, read_budget
from dpsql.ledger.entry import (
    Amended,
    Burned,
    Charged,
    Entry,
    Opened,
    Released,
    Summed,
    Tightened,
    Viewed,
)
from dpsql.privacy.loss import PrivacyLoss
from dpsql.schema.decode import load_schema
from dpsql.schema.model import Schema
from dpsql.session.account import existing_ledger
from dpsql.session.grant import epsilon_of
from dpsql.terminal.table import listing
from dpsql.terminal.visible import visible

_HEADINGS = ("at", "analyst", "epsilon", "outcome", "statement")
_LATEST = 10
_MOST_OF_A_QUERY = 60


def budget(path: Path, analyst: str) -> None:
    """Print the balance of the dataset, that of the analyst, and the latest entries."""
    with explained():
        schema = load_schema(path)
        found = read_budget(schema, analyst, schema.per_query.epsilon)
        click.echo(f"dataset {schema.dataset}: {_balance(found.dataset)}")
        if found.own.epsilon_cap is not None:
            click.echo(f"analyst {visible(found.analyst)}: {_balance(found.own)}")
        click.echo(_further(found))
        click.echo(_history(schema))


def digits(number: Decimal | None) -> str:
    """Six digits of an amount."""
    return "no limit" if number is None else f"{float(number):g}"


def _balance(found: Allowance) -> str:
    text = f"epsilon {digits(found.epsilon_spent)} spent of {digits(found.epsilon_cap)}"
    text += f", {digits(found.epsilon_left)} left"
    if found.delta_cap:
        text += f"; delta {digits(found.delta_spent)} spent of {digits(found.delta_cap)}"
    return text


def _further(found: Budget) -> str:
    queries = "1 query" if found.queries_left == 1 else f"{found.queries_left} queries"
    text = f"enough for {queries} at epsilon = {digits(found.epsilon)}"
    if found.accounting == "zcdp":
        text += " (losses add up as rho, so the epsilons above don't sum to the cap)"
    return text


def _history(schema: Schema) -> str:
    with existing_ledger(schema) as ledger:
        if ledger is None:
            return "nothing was charged yet"
        rows = list(_rows(schema, list(ledger.history())))
    latest = rows[-_LATEST:]
    title = f"the latest {len(latest)} of {len(rows)} entries" if latest != rows else "entries"
    return f"\n{title}, in {visible(str(schema.ledger))}\n\n{listing(_HEADINGS, latest)}"


def _rows(schema: Schema, entries: Sequence[Entry]) -> Iterator[list[str]]:
    """What changed a balance or a cap: when, whose, how much, what came of it."""
    outcomes = {
        entry.event.request_id: "answered" if isinstance(entry.event, Released) else "failed"
        for entry in entries
        if isinstance(entry.event, Released | Burned)
    }
    for entry in entries:
        at = f"{entry.at.astimezone():%Y-%m-%d %H:%M}"
        match entry.event:
            case Charged() as event:
                outcome = outcomes.get(event.request_id, "is running")
                yield [
                    at,
                    event.analyst,
                    _epsilon(schema, event.loss),
                    outcome,
                    _short(event.query),
                ]
            case Viewed() as event:
                yield [at, event.analyst, "0", "seen again", ""]
            case Opened() | Amended() | Tightened():
                yield [at, "", "", f"ledger {entry.event.__struct_config__.tag}", ""]
            case Released() | Burned() | Summed():
                pass
            case missing:
                assert_never(missing)


def _epsilon(schema: Schema, loss: PrivacyLoss) -> str:
    return f"{float(epsilon_of(schema, loss.amount)):.4g}"


def _short(sql: str) -> str:
    line = " ".join(sql.split())
    return line if len(line) <= _MOST_OF_A_QUERY else line[:_MOST_OF_A_QUERY] + "…"
