"""CREATE ALERT: all that its checks will ever name is paid for, and its secret number is drawn.

No private row is read for that. The number is stored before the alert has its name: one that was
paid for and has no name, since the process ended in between, is never checked.
"""

from __future__ import annotations

import secrets
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from dpsql.engine.digest import digest_of
from dpsql.errors import InternalError
from dpsql.ledger.charge import Receipt, StoredAnswer
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.release.columns.arrow import arrow_type
from dpsql.schema.sql_type import BIGINT, Double, SqlType, Varchar
from dpsql.session.alerts.stored_alert import AlertSpec, StoredAlert, encode_alert
from dpsql.session.answer.answer import Answer, AnswerDetails, ColumnErrors, Privacy
from dpsql.session.answer.column_errors import column_of
from dpsql.session.answer.stored_answer import charge_for
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.cost_cap import check_cost
from dpsql.session.compile.loss_conversion import epsilon_of
from dpsql.session.run.charged_draw import burning
from dpsql.session.saved.create import SaveRequest, check_name
from dpsql.session.saved.metadata import SavedReleaseMetadata, encode_metadata

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext

COLUMNS: Final[dict[str, SqlType]] = {"alert": Varchar(), "names": BIGINT, "error": Double()}
"""What CREATE ALERT answers: its name, how many checks may name a condition, and how far off."""


def create_alert(context: SessionContext, spec: AlertSpec, compiled: CompiledStatement) -> Answer:
    """The alert `compiled` of `spec` is charged, drawn, and kept under its name."""
    schema, ledger = context.schema, context.ledger.open()
    wanted = SaveRequest(spec.name, spec.statement, spec.replace, spec.request)
    check_name(wanted, schema, context.saved)
    name = context.saved.name(spec.name)
    ledger.names.check(name, replace=spec.replace)
    (release,) = compiled.releases
    loss = release.step.measurement.loss
    check_cost(loss, compiled.options.price, schema)
    context.execution.check(compiled)
    # No statement has such a key, and no two alerts have the same.
    key = digest_of("an alert that is kept", release.key, secrets.token_hex(32))
    version, cap = context.execution.version(), context.ledger.cap
    charge = charge_for(schema, context.analyst, spec.statement, [release], version, loss, cap)
    receipt = ledger.charge(charge)
    with burning(ledger, receipt, lambda: ""):
        drawn = StoredAlert(
            spec.sql,
            spec.request,
            spec.rows_per_group,
            spec.rows,
            schema.policy_hash,
            _drawn(context, release),
        )
        ledger.release(receipt, b"", [StoredAnswer(key, encode_alert(drawn), loss)])
    stated = schema.version is not None
    about = SavedReleaseMetadata(
        spec.name, wanted.kind, {}, 0, spec.statement.strip(), version, stated
    )
    ledger.names.keep(name, encode_metadata(about), b"", [key], replace=spec.replace)
    return _answer(context, spec, release, receipt)


def _drawn(context: SessionContext, release: CompiledRelease) -> ThresholdStream:
    """The mechanism of `release` with its secret number."""
    threshold = release.step.measurement.table_mechanism
    if not isinstance(threshold, ThresholdStream):
        raise InternalError("an alert that is kept has no threshold to keep")
    raised = threshold.mechanism.raised(context.randomness)
    return ThresholdStream(threshold.mechanism, threshold.checks, raised)


def _answer(
    context: SessionContext, spec: AlertSpec, release: CompiledRelease, receipt: Receipt
) -> Answer:
    """One row of what the alert is now, and what it cost."""
    threshold, loss = release.step.measurement.table_mechanism, release.step.measurement.loss
    assert isinstance(threshold, ThresholdStream)
    shown = column_of(release, 0)
    row = (spec.name, threshold.mechanism.firings, shown.threshold_error)
    types = tuple(COLUMNS.values())
    arrays = [pa.array([value], arrow_type(t)) for value, t in zip(row, types, strict=True)]
    unknown = (None,) * len(row)
    privacy = Privacy(
        loss=loss,
        epsilon=epsilon_of(context.schema, loss.amount if loss else Fraction(0)),
        columns=(shown,),
        thresholds=(),
        stored=False,
        receipt=str(receipt.receipt_id),
        shown_columns=unknown,
    )
    table = pa.table(arrays, names=list(COLUMNS))
    details = AnswerDetails(privacy, lambda: privacy)
    return Answer(table, tuple(COLUMNS), types, lambda: details, ColumnErrors)
