"""An analyst's own alerts: nobody else checks them, or is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from dpsql.errors import UnknownRelease
from dpsql.session.alerts.check_log import CheckHistory, check_history
from dpsql.session.alerts.stored_alert import StoredAlert, decode_alert
from dpsql.session.saved.saved_table import SavedTable

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


class SavedAlert(Struct, frozen=True):
    """An alert that is kept as `saved`: what is paid is stored under `key`."""

    saved: SavedTable
    key: str
    stored: StoredAlert


def saved_alert(context: SessionContext, name: str) -> SavedAlert:
    """The analyst's alert of that name; UnknownRelease if there is none."""
    for saved in context.saved.alerts():
        if saved.info.name == name.casefold():
            return _read(context, saved)
    raise UnknownRelease(
        f"there is no alert {name[:80]} of yours", hint="SHOW dpsql.alerts lists them"
    )


def saved_alerts(context: SessionContext) -> Sequence[tuple[SavedAlert, CheckHistory]]:
    """All of the analyst's alerts, the oldest first, with what became of them."""
    alerts = [_read(context, saved) for saved in context.saved.alerts()]
    return [(alert, check_history(context.ledger.open(), alert.key)) for alert in alerts]


def _read(context: SessionContext, saved: SavedTable) -> SavedAlert:
    (key,) = saved.info.keys
    (data,) = context.ledger.read([key])
    return SavedAlert(saved, key, decode_alert(data))
