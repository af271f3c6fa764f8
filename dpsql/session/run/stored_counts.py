"""The most frequent keys of counts that are stored: sorted for nothing, where a choice is charged.

SELECT ward, count(*) FROM visits GROUP BY ward                                    charged
SELECT ward, count(*) FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 1     sorted, free

What is stored, or follows of a dashboard, was paid for; which way a statement takes depends on
nothing else, and each has its own proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsql.bind.syntax.parameter import Parameters
from dpsql.session.compile.compile import compile_statement
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.request import ANSWER
from dpsql.session.options import QueryOptions
from dpsql.session.run.pending_releases import look_up
from dpsql.structs import replace

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


def compile_query(
    context: SessionContext, sql: str, options: QueryOptions, parameters: Parameters
) -> CompiledStatement:
    """`sql` compiled; over counts of all keys where these are free, and chosen keys are due."""
    compiled = compile_statement(context, sql, options, parameters, ANSWER)
    if not any(each.release.frequent for each in compiled.releases) or _is_free(context, compiled):
        return compiled
    counted = replace(options, answer=replace(options.answer, counts_all_keys=True))
    other = compile_statement(context, sql, counted, parameters, ANSWER)
    return other if _is_free(context, other) else compiled


def _is_free(context: SessionContext, compiled: CompiledStatement) -> bool:
    """Whether nothing of `compiled` is due: all is stored, or follows of what is."""
    return context.ledger.existing() is not None and not look_up(context, compiled).unpaid
