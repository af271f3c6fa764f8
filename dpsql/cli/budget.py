"""`dpsql budget`: prints balances and entries of the ledger, or writes them as CSV, JSON, HTML."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Literal, assert_never

import click
from msgspec import Struct

from dpsql.cli.exit_codes import reporting_errors
from dpsql.ledger.chain.hash_chain import utc_now
from dpsql.ledger.refusal import Refusal
from dpsql.report.budget import Allowance, Budget, enough, read_budget
from dpsql.report.budget_history import Point, Record, burn_down, rows
from dpsql.report.burn_down_chart import burn_down_chart
from dpsql.report.cost import digits
from dpsql.report.export import csv, json
from dpsql.report.html.budget import page
from dpsql.report.local_epsilon import local_epsilon_lines
from dpsql.report.sample_budget import sample_lines
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema
from dpsql.session.ledger_access import existing_ledger, ledger_location

OutputFormat = Literal["table", "csv", "json"]

_HEADINGS = ("at", "analyst", "epsilon", "outcome", "statement")
_LATEST = 10
_MAX_QUERY_LENGTH = 60


class Past(Struct, frozen=True):
    """A ledger's records, the share left after each, the refusals, and the time of reading."""

    records: tuple[Record, ...]
    points: tuple[Point, ...]
    refusals: tuple[Refusal, ...]
    now: datetime


def budget(
    path: Path, analyst: str, form: OutputFormat, html: Path | None, *, history: bool
) -> None:
    """Print the balances with the latest entries, or with all if `history`; or write `html`."""
    with reporting_errors():
        schema = load_schema(path)
        budget = read_budget(schema, analyst, schema.per_query.epsilon)
        past = _past(schema)
        if html is not None:
            text = page(schema, budget, past.records, past.points, past.refusals, past.now)
            html.write_text(text, encoding="utf-8")
            click.echo(sanitize(str(html)))
            return
        match form:
            case "table":
                _print(schema, budget, past, history=history)
            case "csv":
                click.echo(csv(_NAMES, map(_row, past.records)), nl=False)
            case "json":
                click.echo(json(_NAMES, map(_row, past.records)), nl=False)
            case missing:
                assert_never(missing)


def _past(schema: Schema) -> Past:
    with existing_ledger(schema) as ledger:
        if ledger is None:
            return Past((), (), (), utc_now())
        entries = list(ledger.history())
        records = tuple(rows(schema, entries))
        return Past(records, burn_down(entries), ledger.refusals(), utc_now())


def _print(schema: Schema, budget: Budget, past: Past, *, history: bool) -> None:
    click.echo(f"dataset {schema.ledger_name}: {_balance(budget.dataset)}")
    if budget.own.epsilon_cap is not None:
        click.echo(f"analyst {sanitize(budget.analyst)}: {_balance(budget.own)}")
    for line in sample_lines(schema, Fraction(budget.dataset.epsilon_spent)):
        click.echo(line)
    for line in local_epsilon_lines(schema):
        click.echo(line)
    click.echo(enough(budget))
    if not past.points:
        click.echo("nothing was charged yet")
        return
    if sys.stdout.isatty():
        _draw(past)
    click.echo(_entries(schema, past.records, history=history))
    if past.refusals:
        times = sum(refusal.count for refusal in past.refusals)
        click.echo(f"\nrefused: {times}, the latest: {sanitize(_short(past.refusals[-1].message))}")


def _draw(past: Past) -> None:
    """Print the burn-down chart, cropped where the terminal is too narrow for it."""
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False)
    now = Point(max(past.now, past.points[-1].at), past.points[-1].left)
    console.print()
    for line in burn_down_chart(past.points, now):
        console.print(Text(line, style="cyan"), no_wrap=True, overflow="crop")


def _balance(allowance: Allowance) -> str:
    text = f"epsilon {digits(allowance.epsilon_spent)} spent of {digits(allowance.epsilon_cap)}"
    text += f", {digits(allowance.epsilon_left)} left"
    if allowance.delta_cap:
        text += f"; delta {digits(allowance.delta_spent)} spent of {digits(allowance.delta_cap)}"
    return text


def _entries(schema: Schema, past: Sequence[Record], *, history: bool) -> str:
    latest = past if history else past[-_LATEST:]
    some = len(latest) < len(past)
    title = f"the latest {len(latest)} of {len(past)} entries" if some else "entries"
    rows = [
        [
            f"{record.at.astimezone():%Y-%m-%d %H:%M}",
            record.analyst,
            f"{float(record.epsilon):.4g}" if record.analyst else "",
            record.outcome,
            _short(record.statement),
        ]
        for record in latest
    ]
    return f"\n{title}, in {sanitize(str(ledger_location(schema)))}\n\n{listing(_HEADINGS, rows)}"


_NAMES = (
    "entry",
    "at",
    "analyst",
    "epsilon",
    "delta",
    "amount",
    "outcome",
    "statement",
    "hash",
)


def _row(record: Record) -> tuple[int | str | float, ...]:
    """A record for programs; `amount` is the exact fraction that the ledger has."""
    return (
        record.entry,
        record.at.isoformat(),
        record.analyst,
        float(record.epsilon),
        float(record.delta),
        str(record.amount),
        record.outcome,
        record.statement,
        record.hash,
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_QUERY_LENGTH else line[:_MAX_QUERY_LENGTH] + "…"
