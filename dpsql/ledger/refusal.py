"""Refused statements, for the owner to see: outside the chain, bounded in number, and data-free.

Only refusals that were decided before private rows were read are recorded, so they reveal nothing
about the data. They cost nothing and prove nothing, so they are no entries: nobody can make a
ledger grow with statements that are refused.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from dpsql.ledger.chain.hash_chain import Chain

MAX_REFUSALS = 500
MAX_CHARACTERS = 500
"""Characters of a query, and of a message; the rest is cut off."""


class Refusal(Struct, frozen=True):
    """One statement of one analyst, refused `count` times with `sqlstate`, last at `last`."""

    analyst: str
    sqlstate: str
    query: str
    message: str
    count: int
    last: datetime


def note(chain: Chain, analyst: str, sqlstate: str, query: str, message: str) -> None:
    """Records one more refusal; beyond MAX_REFUSALS, the ones refused longest ago are deleted."""
    cut = [
        text[:MAX_CHARACTERS].replace("\0", " ").encode(errors="replace").decode()
        for text in (query, message)
    ]
    chain.store.refuse((analyst, sqlstate, *cut), chain.clock().isoformat(), MAX_REFUSALS)


def refusals(chain: Chain) -> tuple[Refusal, ...]:
    """All recorded refusals, the latest last."""
    return tuple(
        Refusal(*texts, count, datetime.fromisoformat(last))
        for texts, count, last in chain.store.refusals()
    )
