"""Canonical filters: one form of a filter, however it is written, so that equal ones match."""

from __future__ import annotations

from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.plan.expression import Expression, IsNull, Not, conjunction, conjuncts
from dpsql.plan.expression_text import describe


def canonical_filter(condition: Expression | None, domains: Environment) -> Expression | None:
    """The conjuncts of `condition` that aren't always true, each once and in one order."""
    parts = () if condition is None else conjuncts(condition)
    open_parts = sorted({part for part in parts if not _is_true(part, domains)}, key=describe)
    return conjunction(tuple(open_parts)) if open_parts else None


def _is_true(condition: Expression, domains: Environment) -> bool:
    if isinstance(condition, Not) and isinstance(condition.operand, IsNull):
        return not domain(condition.operand.operand, domains).nullable
    return False
