"""A release as statements that a server computes: by the strategies that its dialect takes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Final, NamedTuple

from sqlglot import exp

from dpsql.emit.dialect.postgres import guard as postgres_guard
from dpsql.emit.dialect.postgres import render as postgres
from dpsql.emit.dialect.spark import guard as spark_guard
from dpsql.emit.dialect.spark import render as spark
from dpsql.emit.release.contributions import group_names
from dpsql.engine.postgres.semantics import SUPPORTED
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.supported import Supported
from dpsql.errors import Refused
from dpsql.physical.choose import Candidate, Choice
from dpsql.physical.engine_query import domain_tables, emit_trees
from dpsql.physical.server_cost import cost_on_server
from dpsql.plan.bounded_release.bounded_release import Contributions, contributions_of
from dpsql.plan.bounded_release.column_names import CELL_NUMBER, ROW_COUNT, total_name
from dpsql.plan.bounded_release.engine_query import DomainTable
from dpsql.plan.bounded_release.server_query import ServerQuery, ServerStatement
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators


class _Dialect(NamedTuple):
    """What writes statements of a server, and what names those that it doesn't compute."""

    rendered: Callable[
        [exp.Expr, tuple[DomainTable, ...], tuple[tuple[str, str], ...]], ServerStatement
    ]
    refused: Callable[[str], Refused]


_DIALECTS: Final = {
    "PostgreSQL": _Dialect(postgres.rendered, postgres_guard.refused),
    "Spark": _Dialect(spark.rendered, spark_guard.refused),
}


class PushedDown(NamedTuple):
    """The statements of a release, by the strategy of a `candidate`."""

    candidate: Candidate
    query: ServerQuery


def push_down(
    choice: Choice, supported: Supported = SUPPORTED, sidecar: ServerSidecar | None = None
) -> PushedDown:
    """The statements for a server, by the cheapest strategy that it takes.

    Rows come from the source's own tables, or from those of `sidecar` that `choice` reads. Refused,
    by the name of a function, type or clause, for what isn't on the lists of its dialect.
    """
    rendered, refused = _DIALECTS[supported.dialect]
    terms = contributions_of(choice.limited)
    known = [each for each in choice.candidates if each.name in supported.strategies]
    # Of equal costs there, which all have but one, the order of estimates decides.
    candidate = min(known, key=lambda c: cost_on_server(choice.limited, c.plan), default=None)
    if any(isinstance(plan, Release) for plan in operators(terms.source)):
        raise refused("a release of what was released")
    if candidate is None:
        raise refused("a release by stored sums")
    domains = domain_tables(terms)
    listed = chain.from_iterable(chain.from_iterable(domain.cells for domain in domains))
    has_no_code_0 = supported is SUPPORTED
    if has_no_code_0 and any(isinstance(value, str) and "\0" in value for value in listed):
        raise refused("a text with the character of code 0")
    select, counts = emit_trees(candidate.plan, choice.limited, {})
    groups = _group_columns(terms)
    sums = [(total_name(number), "HUGEINT") for number in range(len(terms.statistics))]
    cells = [(CELL_NUMBER, "BIGINT"), (ROW_COUNT, "BIGINT")]
    query = ServerQuery(
        candidate.name,
        rendered(select, domains, (*groups, *sums)),
        tuple(rendered(count, domains, (*groups, *cells)) for count in counts),
        sidecar,
    )
    return PushedDown(candidate, query)


def _group_columns(terms: Contributions) -> list[tuple[str, str]]:
    """The columns of groups: numbers of cells, then keys that no domain lists."""
    types = ["BIGINT"] * len(terms.domains)
    types += [str(key.expression.type) for key in terms.unlisted_keys]
    return list(zip(group_names(terms), types, strict=True))
