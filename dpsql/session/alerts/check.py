"""CHECK ALERT: what is compared now, by the number that was drawn when the alert was made.

Each version of the data is checked once, and what was said of it is said again: when data change is
public. A check is begun in the ledger before it runs, and what it says is on disk, and in the
anchor, before it is told. So no end of a process gives another look, and none is forgotten.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.engine.digest import digest_of
from dpsql.errors import FailedBefore, InternalError, OperationalError, Refused
from dpsql.ledger.charge import Charge, Receipt
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.release.alert import threshold_moves
from dpsql.release.calibration import Measurement
from dpsql.session.alerts.check_log import CheckHistory, CheckRecord, check_history, request_id
from dpsql.session.alerts.saved_alerts import SavedAlert
from dpsql.session.answer.answer import Answer
from dpsql.session.answer.answer_construction import build_answer
from dpsql.session.answer.stored_answer import detail, from_bytes, to_bytes
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.interruptible import RUNNING
from dpsql.session.run.charge_and_run import ReleasedTables
from dpsql.session.run.charged_draw import burning
from dpsql.session.run.pending_releases import run_releases
from dpsql.structs import replace

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


def check_policy(context: SessionContext, alert: SavedAlert) -> None:
    """Refuse an alert that was paid for under another policy, before it is compiled."""
    if alert.stored.policy_hash != context.schema.policy_hash:
        raise _is_another(alert, "the schema was changed since it was made")


def check_alert(
    context: SessionContext, alert: SavedAlert, compiled: CompiledStatement, written: str
) -> Answer:
    """What `alert`, which is now `compiled`, says of the data as they are; noted as `written`."""
    release = _paid(alert, compiled)
    with context.turn(compiled):
        ledger, version = context.ledger.open(), context.execution.version()
        history = check_history(ledger, alert.key)
        if history.running:
            raise _is_running(alert)
        known = history.last
        if known is not None and known.version == version:
            ledger.await_releases()
            table = from_bytes(known.table, release.columns)
            released = ReleasedTables({release.name: table}, {}, {})
            return _noted(build_answer(context, compiled, released), alert, history.used)
        if history.used >= alert.stored.firings:
            raise Refused(
                f"alert {alert.saved.metadata.name} is used up: it has named what it was paid for",
                hint=f"DROP ALERT {alert.saved.metadata.name}, and CREATE it again",
                note="create_alert",
            )
        receipt, record = _drawn(context, alert, compiled, release, history, written, version)
        ledger.await_releases()
    table = from_bytes(record.table, release.columns)
    none = PrivacyLoss(release.step.measurement.loss.accounting, Fraction(0))
    released = ReleasedTables({release.name: table}, {}, {}, none, receipt)
    return _noted(build_answer(context, compiled, released), alert, record.used)


def _paid(alert: SavedAlert, compiled: CompiledStatement) -> CompiledRelease:
    """The release of `compiled`, drawn by the alert's own mechanism, which pays for it.

    What neighbours move may be less than when the alert was made, and is never more.
    """
    (release,) = compiled.releases
    threshold, step = alert.stored.threshold, release.step
    paid, now = threshold.mechanism.moves, threshold_moves(step.bounded, release.sensitivity)
    if now.reach > paid.reach or now.span > paid.span:
        raise _is_another(alert, "a unit may move what it compares by more than was paid for")
    own = Measurement((), None, step.measurement.loss, table_mechanism=threshold)
    return replace(release, step=replace(step, measurement=own))


def _drawn(
    context: SessionContext,
    alert: SavedAlert,
    compiled: CompiledStatement,
    release: CompiledRelease,
    history: CheckHistory,
    written: str,
    version: str,
) -> tuple[Receipt, CheckRecord]:
    """The next check of `alert`, begun, run, and recorded."""
    ledger, key = context.ledger.open(), alert.key
    failure = digest_of("failed check of an alert", key, version)
    if ledger.failed([failure]):
        raise FailedBefore(
            "this was checked before, and failed on this version of the data",
            hint="check it when the data have changed; the owner can run dpsql check",
        )
    context.execution.check(compiled)
    tables = context.saved.rows(compiled.saved_tables, charge=True)
    # Before it is begun: what was stopped afterwards, and wasn't burned, would be running for ever.
    context.progress(RUNNING)
    receipt = ledger.charge(_request(context, alert, release, history.checks, written, version))
    if not receipt.fresh:
        raise _is_running(alert)
    with burning(ledger, receipt, lambda: failure):
        table = run_releases(context, [release], tables)[release.name]
        if table.num_rows > 1:
            raise InternalError("a check named several conditions")
        record = CheckRecord(version, history.used + table.num_rows, to_bytes(table))
        ledger.release(receipt, record.encode())
    return receipt, record


def _request(
    context: SessionContext,
    alert: SavedAlert,
    release: CompiledRelease,
    number: int,
    written: str,
    version: str,
) -> Charge:
    """Check `number` of `alert`, which costs nothing more."""
    accounting, own = release.step.measurement.loss.accounting, request_id(alert.key, number)
    return Charge(
        request_id=own,
        request_hash=own,
        analyst=context.analyst,
        loss=PrivacyLoss(accounting, Fraction(0)),
        analyst_cap=context.ledger.cap,
        data_version=version,
        policy_hash=context.schema.policy_hash,
        query=written,
        detail=(detail(release),),
        paid_by=alert.key,
    )


def _noted(answer: Answer, alert: SavedAlert, used: int) -> Answer:
    """`answer` with how often the alert may name a condition still."""
    left, all_of_it = max(0, alert.stored.firings - used), alert.stored.firings
    note = f"the alert was paid for when it was made: {left} of {all_of_it} names are left"
    privacy = replace(answer.privacy, notes=(note, *answer.privacy.notes))
    details = replace(answer.details(), cost=privacy, describe=lambda: privacy)
    return replace(answer, details=lambda: details)


def _is_running(alert: SavedAlert) -> OperationalError:
    return OperationalError(
        f"alert {alert.saved.metadata.name} is being checked", hint="ask again in a moment"
    )


def _is_another(alert: SavedAlert, why: str) -> Refused:
    name = alert.saved.metadata.name
    return Refused(
        f"alert {name} can't be checked: {why}",
        hint=f"DROP ALERT {name}, and CREATE it again",
        note="create_alert",
    )
