"""The law of a kept table's noise, be it a dashboard's or a synopsis', as the ledger keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

from dpsql.session.saved.dashboard_law import DashboardLaw, decode_law, encode_law
from dpsql.session.saved.synopsis_law import SynopsisLaw, decode_synopsis_law, encode_synopsis_law

TableLaw: TypeAlias = DashboardLaw | SynopsisLaw
"""How the values of a kept table are off, by the law of their noise."""


def encode_table_law(law: TableLaw) -> dict[str, Any]:
    """`law` for JSON."""
    match law:
        case DashboardLaw():
            return encode_law(law)
        case SynopsisLaw():
            return encode_synopsis_law(law)
        case missing:
            assert_never(missing)


def decode_table_law(fields: Mapping[str, Any]) -> TableLaw:
    """What `encode_table_law` wrote: what was measured is said of a synopsis alone."""
    return decode_synopsis_law(fields) if "measured" in fields else decode_law(fields)
