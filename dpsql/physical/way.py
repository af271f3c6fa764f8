"""Where a release is computed: on the server that has its rows, or here, of rows that are pulled.

Both ways give the same integers where no limit binds, and choose a unit's groups by the same law
where one does. The choice follows from the statement and the schema alone: how many rows there are
is private, and what a server guesses of it, too. So both ways are told in EXPLAIN PRIVACY.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.engine.supported import Supported
from dpsql.errors import Refused
from dpsql.physical.choose import Choice
from dpsql.physical.push_down import push_down
from dpsql.physical.server_cost import cost_of_pulling, cost_on_server
from dpsql.plan.bounded_release.bounded_release import contributions_of
from dpsql.plan.bounded_release.server_query import ServerQuery
from dpsql.schema.source_location import PushDown


@dataclass(frozen=True, slots=True)
class Server:
    """A source's server: what it computes, and what its owner says of when it does."""

    supported: Supported
    push_down: PushDown


@dataclass(frozen=True, slots=True)
class Way:
    """A way to a release's integers, by a strategy, with what it is estimated to cost."""

    name: str
    estimate: Fraction


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways there are, the chosen one first; `pushed` is run where that is on the server.

    `note` says why there is one way alone, "" where there are two.
    """

    ways: tuple[Way, ...]
    pushed: ServerQuery | None
    note: str


def choose_way(choice: Choice, server: Server) -> Ways:
    """The cheaper way to the integers of `choice`, or the one that the owner wants.

    Refused for what a server doesn't compute whose rows aren't pulled.
    """
    if not server.supported.pulls:
        candidate, query = push_down(choice, server.supported)
        there = Way(f"on the server, {candidate.name}", candidate.estimate)
        return Ways((there,), query, "")
    terms = contributions_of(choice.limited)
    here = choice.candidates[0]
    pull = Way(f"rows pulled, {here.name}", here.estimate + cost_of_pulling(terms))
    if server.push_down is PushDown.NEVER:
        return Ways((pull,), None, "rows are pulled: the schema has push_down: never")
    try:
        candidate, query = push_down(choice, server.supported)
    except Refused as refusal:
        return Ways((pull,), None, f"rows are pulled: {refusal.message}")
    push = Way(f"on the server, {candidate.name}", cost_on_server(choice.limited))
    if server.push_down is PushDown.ALWAYS:
        return Ways((push, pull), query, "on the server: the schema has push_down: always")
    if push.estimate <= pull.estimate:
        return Ways((push, pull), query, "")
    return Ways((pull, push), None, "")
