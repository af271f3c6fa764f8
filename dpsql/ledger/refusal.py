"""What was refused, for the owner to see: kept beside the chain, of bounded size, and data-free.

Only refusals that were decided before private rows were read are kept, so none of them tells of the
data. They cost nothing and prove nothing, so they are no entries: nobody can make a ledger grow by
asking in vain.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dpsql.ledger.chain.hash_chain import Chain

MAX_REFUSALS = 500
LONGEST = 500


@dataclass(frozen=True, slots=True)
class Refusal:
    """One statement of one analyst, `count` times refused for one reason, last at `last`."""

    analyst: str
    sqlstate: str
    query: str
    message: str
    count: int
    last: datetime


def note(chain: Chain, analyst: str, sqlstate: str, query: str, message: str) -> None:
    """One refusal more; of very many, those that were refused longest ago are forgotten."""
    cut = [
        text[:LONGEST].replace("\0", " ").encode(errors="replace").decode()
        for text in (query, message)
    ]
    chain.store.refuse((analyst, sqlstate, *cut), chain.clock().isoformat(), MAX_REFUSALS)


def refusals(chain: Chain) -> tuple[Refusal, ...]:
    """All that are kept, the latest last."""
    return tuple(
        Refusal(*texts, count, datetime.fromisoformat(last))
        for texts, count, last in chain.store.refusals()
    )
