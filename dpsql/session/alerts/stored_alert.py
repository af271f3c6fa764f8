"""What the ledger keeps of an alert: what it compares, its mechanism, and its secret number.

It is stored as an answer whose key follows from no statement, so that nothing that is asked reads
it. A salt stands beside the number: it is small, and could be found by the hash of the bytes.
"""

from __future__ import annotations

import json
import secrets
from fractions import Fraction

from msgspec import Struct

from dpsql.bounding.options import ContributionLimits
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold, ThresholdMoves
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.session.compile.request import AlertRequest
from dpsql.session.options import PriceOptions, QueryOptions
from dpsql.structs import replace


class AlertSpec(Struct, frozen=True):
    """CREATE ALERT `name`: `sql` is an ALERT, `statement` what was written.

    Limits below the schema's hold for each of its checks. `replace` lets it take one's own name.
    """

    name: str
    sql: str
    statement: str
    request: AlertRequest
    rows_per_group: int | None = None
    rows: int | None = None
    replace: bool = False

    def options(self, price: PriceOptions) -> QueryOptions:
        """What it is compiled with: nothing that is SET for queries but what they may cost."""
        return _options(self.request, self.rows_per_group, self.rows, price)


class StoredAlert(Struct, frozen=True):
    """An alert that was paid for under the policy of that hash; `sql` is an ALERT."""

    sql: str
    request: AlertRequest
    rows_per_group: int | None
    rows: int | None
    policy_hash: str
    threshold: ThresholdStream

    @property
    def options(self) -> QueryOptions:
        """What each check is compiled with."""
        return _options(self.request, self.rows_per_group, self.rows, PriceOptions())

    @property
    def firings(self) -> int:
        """How many checks may name a condition."""
        return self.threshold.mechanism.firings


def _options(
    request: AlertRequest, rows_per_group: int | None, rows: int | None, price: PriceOptions
) -> QueryOptions:
    limits = ContributionLimits(rows_per_group=rows_per_group, rows=rows, origin="set for it")
    return QueryOptions(request.epsilon, limits, price=replace(price, max_error=None))


def encode_alert(alert: StoredAlert) -> bytes:
    """`alert` as the ledger stores it; its number has been drawn."""
    above = alert.threshold.mechanism
    fields = {
        "salt": secrets.token_hex(32),
        "sql": alert.sql,
        "epsilon": str(alert.request.epsilon),
        "checks": alert.request.checks,
        "rows_per_group": alert.rows_per_group,
        "rows": alert.rows,
        "policy": alert.policy_hash,
        "threshold_rate": str(above.threshold_rate),
        "query_rate": str(above.query_rate),
        "firings": above.firings,
        "reach": above.moves.reach,
        "span": above.moves.span,
        "offset": above.offset,
        "raised": alert.threshold.raised,
    }
    return json.dumps(fields, sort_keys=True).encode()


def decode_alert(data: bytes) -> StoredAlert:
    """What `encode_alert` wrote."""
    fields = json.loads(data)
    above = AboveThreshold(
        Fraction(fields["threshold_rate"]),
        Fraction(fields["query_rate"]),
        fields["firings"],
        ThresholdMoves(fields["reach"], fields["span"]),
        fields["offset"],
    )
    request = AlertRequest(Fraction(fields["epsilon"]), fields["checks"])
    return StoredAlert(
        fields["sql"],
        request,
        fields["rows_per_group"],
        fields["rows"],
        fields["policy"],
        ThresholdStream(above, request.checks, fields["raised"]),
    )
