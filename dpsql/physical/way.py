"""Where a release is computed: on the server that has its rows, or here, of rows that are pulled.

Both ways give the same integers where no limit binds, and choose a unit's groups by the same law
where one does. The choice follows from the statement and the schema alone: how many rows there are
is private, and what a server guesses of it, too. So all ways are told in EXPLAIN PRIVACY.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.supported import Supported
from dpsql.errors import Refused
from dpsql.physical.choose import Choice
from dpsql.physical.server_cost import cost_of_pulling, cost_on_server, looks_units_up
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.plan.bounded_release.bounded_release import Limited, contributions_of
from dpsql.plan.bounded_release.server_query import ServerQuery
from dpsql.schema.source_location import PushDown
from dpsql.structs import replace

if TYPE_CHECKING:
    from dpsql.physical.push_down import PushedDown


class Server(Struct, frozen=True):
    """A source's server: what it computes, and what its owner says of when it does."""

    supported: Supported
    push_down: PushDown


class Way(Struct, frozen=True):
    """A way to a release's integers, by a strategy, with what it is estimated to cost."""

    name: str
    estimate: Fraction


class Prepared(Struct, frozen=True):
    """The ways over the rows that a `sidecar` on the server has, each with its unit."""

    choice: Choice
    sidecar: ServerSidecar


class Ways(Struct, frozen=True):
    """The ways there are, the chosen one first; `pushed` is run where that is on the server.

    `reason` says why there is one way alone, "" where there are two. `limited` has the rows as the
    chosen way reads them.
    """

    ways: tuple[Way, ...]
    pushed: ServerQuery | None
    reason: str
    limited: Limited


def choose_way(choice: Choice, server: Server, prepared: Prepared | None = None) -> Ways:
    """The cheaper way to the integers of `choice`, or the one that the owner wants.

    Where a sidecar is `prepared`, and gone when it is to be read, the best way without it is taken.
    Refused for what a server doesn't compute whose rows aren't pulled.
    """
    pulls = server.supported.pulls
    ways = _without_sidecar(choice, server) if pulls else _on_server(choice, server)
    if prepared is None or server.push_down is PushDown.NEVER:
        return ways
    try:
        candidate, query = _pushed(prepared.choice, server, prepared.sidecar)
    except Refused:
        return ways
    if not isinstance(candidate.plan, SplitByContribution) and not looks_units_up(
        contributions_of(choice.limited)
    ):
        return ways  # no join would be saved
    limited, first = prepared.choice.limited, ways.ways[0]
    cost = cost_on_server(limited, candidate.plan) if pulls else candidate.estimate
    over = Way(f"on the server, {candidate.name} of what is prepared", cost)
    is_wanted = not pulls or (server.push_down is PushDown.ALWAYS and ways.pushed is None)
    if over.estimate > first.estimate and not is_wanted:
        return replace(ways, ways=(first, over, *ways.ways[1:]))
    query = replace(query, without_sidecar=ways.pushed)
    reason = "" if ways.pushed is None else ways.reason
    return Ways((over, *ways.ways), query, reason, limited)


def _pushed(choice: Choice, server: Server, sidecar: ServerSidecar | None = None) -> PushedDown:
    from dpsql.physical.push_down import push_down  # noqa: PLC0415 - servers alone have dialects

    return push_down(choice, server.supported, sidecar)


def _on_server(choice: Choice, server: Server) -> Ways:
    """The one way where no rows are pulled; Refused for what the server doesn't compute."""
    candidate, query = _pushed(choice, server)
    there = Way(f"on the server, {candidate.name}", candidate.estimate)
    return Ways((there,), query, "", choice.limited)


def _without_sidecar(choice: Choice, server: Server) -> Ways:
    """The ways over the source's own tables."""
    terms = contributions_of(choice.limited)
    here = choice.candidates[0]
    pull = Way(f"rows pulled, {here.name}", here.estimate + cost_of_pulling(terms))
    pulled = Ways((pull,), None, "", choice.limited)
    if server.push_down is PushDown.NEVER:
        return replace(pulled, reason="rows are pulled: the schema has push_down: never")
    try:
        candidate, query = _pushed(choice, server)
    except Refused as refusal:
        return replace(pulled, reason=f"rows are pulled: {refusal.message}")
    push = Way(f"on the server, {candidate.name}", cost_on_server(choice.limited, candidate.plan))
    pushed = Ways((push, pull), query, "", choice.limited)
    if server.push_down is PushDown.ALWAYS:
        return replace(pushed, reason="on the server: the schema has push_down: always")
    return pushed if push.estimate <= pull.estimate else replace(pulled, ways=(pull, push))
