"""`dpsql ledger`: an owner's commands to verify, amend and back up a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors
from dpsql.ledger.charge import parse_receipt_id
from dpsql.ledger.storage.opening import exists
from dpsql.ledger.terms import LedgerTerms
from dpsql.report.terminal.sanitize import sanitize
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.session.compile.loss_conversion import epsilon_of, ledger_terms
from dpsql.session.ledger_access import anchor_path, dataset_wide, ledger_location, recorded_ledger


def verify(path: Path, receipts: Sequence[str]) -> None:
    """Verify the ledger and print what agrees; fail with the first fault."""
    with reporting_errors():
        schema = load_schema(path)
        proofs = [parse_receipt_id(text) for text in receipts]
        with recorded_ledger(schema) as ledger:
            report = ledger.verify(*proofs)
            spent = epsilon_of(schema, ledger.balance().spent.amount)
    click.echo(f"{sanitize(str(ledger_location(schema)))}: in order")
    click.echo(f"{report.entries} entries, the last with hash {report.hash}")
    click.echo(f"spent: epsilon = {float(spent):.6g}; {_counted(report.answers)} kept")
    click.echo("agreed: chain, anchor, balances, requests, readers and answers")
    if proofs:
        click.echo(f"receipts held: {len(proofs)}")


def amend(path: Path, reason: str | None) -> None:
    """Record the schema's terms in the ledger; without a reason, only print what would change."""
    with reporting_errors():
        schema = load_schema(path)
        changed = [own for own in _ledgers(schema) if _differs(own)]
        if not changed:
            click.echo("nothing to amend: the ledger holds what the schema says")
            return
        for number, own in enumerate(changed):
            with recorded_ledger(own) as ledger:
                if not number:
                    _print_changes(own, ledger.terms)
                if reason is not None:
                    ledger.amend(ledger_terms(own), reason)
        if reason is None:
            echo_err("nothing was changed")
            echo_err(f"hint: agree with dpsql ledger amend {path} --reason '…'; both are recorded")
            raise click.exceptions.Exit(ExitCode.FAILED)
    click.echo("amended")


def backup(path: Path, target: Path) -> None:
    """Copy the ledger into a new file."""
    with reporting_errors():
        schema = load_schema(path)
        with recorded_ledger(schema) as ledger:
            ledger.backup(target)
    click.echo(f"{sanitize(str(target))}: a whole copy of {sanitize(str(ledger_location(schema)))}")
    click.echo(f"its anchor stays {sanitize(str(anchor_path(schema)))}")


def _ledgers(schema: Schema) -> list[Schema]:
    """The schema with each of its ledgers.

    A budget with periods has the dataset's ledger, and that of the current period if it exists.
    """
    if schema.period is None:
        return [schema]
    there = exists(ledger_location(schema), anchor_path(schema))
    return [dataset_wide(schema), schema] if there else [dataset_wide(schema)]


def _differs(schema: Schema) -> bool:
    with recorded_ledger(schema) as ledger:
        return ledger.terms != ledger_terms(schema)


def _counted(answers: int) -> str:
    return "1 answer" if answers == 1 else f"{answers} answers"


def _print_changes(schema: Schema, recorded: LedgerTerms) -> None:
    looser = policy_relaxations(recorded.policy, schema.policy)
    for change in looser:
        click.echo(f"looser: {sanitize(change)}")
    if not looser:
        click.echo("the schema differs from what was agreed, and is nowhere looser")
