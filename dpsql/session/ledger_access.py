"""The ledger of a schema, which holds the owner to what was agreed: looser schemas are refused.

Where budgets are refreshed each period has a ledger, and the dataset one that is never charged: it
holds the owner to what was agreed from one period to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import assert_never

from dpsql.errors import LedgerFault
from dpsql.ledger.chain.entry import Opened
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.read_only_ledger import ReadLedger
from dpsql.ledger.storage.backend import Location, Server
from dpsql.ledger.storage.opening import can_write, exists
from dpsql.schema.model import Schema
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.schema.refresh_schedule import Period
from dpsql.session.compile.loss_conversion import ledger_terms
from dpsql.session.ledger_creation import check_home, tell_of_new
from dpsql.structs import replace


def ledger_location(schema: Schema) -> Location:
    """Where the ledger is, as its text shows it: without a password."""
    match schema.ledger:
        case Path() as path:
            return path if schema.period is None else _of(path, schema.period)
        case str() as url:
            return Server(url, schema.ledger_name)
        case missing:
            assert_never(missing)


def anchor_path(schema: Schema) -> Path:
    """Where the ledger's anchor is."""
    return schema.anchor if schema.period is None else _of(schema.anchor, schema.period)


def dataset_wide(schema: Schema) -> Schema:
    """The schema whose ledger is the dataset's own, for all periods."""
    return replace(schema, period=None)


def open_ledger(schema: Schema, *, create: bool = True) -> Ledger:
    """The ledger under the caps of `schema`, made if there is none and `create` allows it."""
    if schema.period is not None:
        with open_ledger(dataset_wide(schema), create=create) as whole:
            _require_uncharged(whole, schema)
    location = ledger_location(schema)
    # A server's is the same for whoever has its address; a period's has the dataset's beside it.
    is_own = isinstance(location, Path) and schema.period is None
    new = create and is_own and not has_ledger(schema)
    if new:
        check_home(schema)
    ledger = Ledger.open(location, anchor_path(schema), ledger_terms(schema), create=create)
    if new:
        tell_of_new(schema)
    try:
        _require_not_relaxed(schema, ledger)
    except BaseException:
        ledger.close()
        raise
    return ledger


def with_sample_key(schema: Schema) -> Schema:
    """`schema` with the secret that decides which units answers are of, where they are of a sample.

    It is the ledger's, which is made if there is none: another ledger, as that of another period,
    has another sample.
    """
    sample = schema.budget.sample
    if sample is None or sample.key:
        return schema
    with open_ledger(schema) as ledger:
        opened = next(ledger.history()).event
    if not isinstance(opened, Opened):
        raise LedgerFault(f"{ledger_location(schema)} doesn't begin with its opening")
    keyed = replace(sample, key=opened.sample_key)
    return replace(schema, budget=replace(schema.budget, sample=keyed))


def has_ledger(schema: Schema) -> bool:
    """There is a ledger of `schema` already."""
    return exists(ledger_location(schema), anchor_path(schema))


@contextmanager
def existing_ledger(schema: Schema) -> Iterator[Ledger | None]:
    """The ledger of `schema`, None if there is none yet."""
    if not has_ledger(schema):
        yield None
        return
    with open_ledger(schema, create=False) if _writable(schema) else _to_read(schema) as ledger:
        yield ledger


@contextmanager
def reading_ledger(schema: Schema) -> Iterator[ReadLedger | None]:
    """The ledger of `schema` to be read, None if there is none yet; nothing is written."""
    if not has_ledger(schema):
        yield None
        return
    with _to_read(schema) as ledger:
        yield ledger


@contextmanager
def recorded_ledger(schema: Schema) -> Iterator[Ledger]:
    """The ledger under its own terms, whatever the schema says now: for its owner."""
    opened = Ledger.as_recorded if _writable(schema) else ReadLedger.at
    with opened(ledger_location(schema), anchor_path(schema)) as ledger:
        yield ledger


def _writable(schema: Schema) -> bool:
    return can_write(ledger_location(schema), anchor_path(schema))


def _to_read(schema: Schema) -> ReadLedger:
    ledger = ReadLedger.at(ledger_location(schema), anchor_path(schema))
    try:
        _require_not_relaxed(schema, ledger)
    except BaseException:
        ledger.close()
        raise
    return ledger


def _of(path: Path, period: Period) -> Path:
    return path.with_name(f"{path.stem}@{period.name}{path.suffix}")


def _require_uncharged(ledger: Ledger, schema: Schema) -> None:
    """What was learnt about these rows before there were periods would come on top."""
    if ledger.balance().spent.amount:
        raise LedgerFault(
            f"{schema.dataset} was charged before its budget was refreshed",
            hint="give the dataset another name: what was learnt comes on top of its new budget",
        )


def _require_not_relaxed(schema: Schema, ledger: Ledger) -> None:
    agreed = ledger.terms
    if agreed.policy_hash == schema.policy_hash:
        return
    changes = policy_relaxations(agreed.policy, schema.policy)
    if changes:
        raise LedgerFault(
            "the schema is looser than what the ledger was opened with: " + "; ".join(changes),
            hint=f"the owner can agree: dpsql ledger amend {schema.path} --reason '…'",
        )
