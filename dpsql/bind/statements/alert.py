"""ALERT WHEN conditions FROM … [WHERE …] [BY key] [LIMIT n]: the first conditions that hold.

    ALERT WHEN count(*) > 500 AS busy, sum(cost) >= 100000 AS dear FROM visits BY ward

It is bound as a query of aggregates by group, SELECT ward, max(1), max(cost) …, whose arguments
become what is summed and compared. Groups are those that public facts list, in ascending order, and
in each the conditions as they are written.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from msgspec import Struct
from sqlglot import exp
from sqlglot.tokenizer_core import Token

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.scope import quoted_name
from dpsql.bind.statements.by_clause import (
    bind_aggregates,
    by_clauses,
    error_span,
    grouped_query,
    keys_in_statement,
    single_key,
)
from dpsql.bind.statements.own_query import bind_text, quoted_text, with_query
from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import parse_query, span, written_number
from dpsql.errors import Refused, Span, SyntaxFault, TooComplex, TypeFault
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.expression import Column, Compare, Comparison, Expression, Literal
from dpsql.plan.operator import Plan, Project, Release
from dpsql.schema.sql_type import BIGINT, Decimal, Double, Integer
from dpsql.structs import replace

MAX_CONDITIONS: Final = 100
"""The largest number of conditions of an alert."""

MAX_FIRINGS: Final = 100
"""The largest number of them that are named."""

_FORM: Final = "ALERT WHEN count(*) > 100 FROM table WHERE … BY day"
_SUMS: Final = "write count(*) > 100, count(x) > 100 or sum(x) > 100, with a number"
_OTHER_CLAUSES: Final = ("distinct", "having", "windows", "qualify", "order", "offset")
_COMPARISONS: Final[dict[type[exp.Expr], Comparison]] = {
    exp.GT: Comparison.GREATER,
    exp.GTE: Comparison.GREATER_EQUAL,
    exp.LT: Comparison.LESS,
    exp.LTE: Comparison.LESS_EQUAL,
}


def is_alert(words: list[Token]) -> bool:
    """Whether the statement begins with ALERT WHEN."""
    return [word.text.casefold() for word in words[:2]] == ["alert", "when"]


class Condition(Struct, frozen=True):
    """`op threshold` of what is summed, what it is called, and where it stands."""

    name: str
    op: Comparison
    threshold: Fraction
    at: Span | None


class Alert(Struct, frozen=True):
    """An alert as a query that aggregates in each group what each condition compares.

    The query's text has GROUP before the BY at `by`, in the numbered text of the statement, and is
    longer by that. So many conditions as `firings` are named.
    """

    query: exp.Select
    conditions: tuple[Condition, ...]
    firings: int
    by: int

    def bound(self, context: Context) -> BoundQuery:
        """The plan of one row for each condition that is named, with its group."""
        with error_span(self.by):
            sums = bind_aggregates(self.query, context, _unmatched())
            named = self._named(sums.plan, context)
            keys = keys_in_statement(named.keys, self.by)
            names = ("group_key", "choice")[-1 - len(keys) :]
            alert = BoundQuery(replace(named, keys=keys), names)
            cases = " ".join(
                f"WHEN {index} THEN {quoted_text(condition.name)}"
                for index, condition in enumerate(self.conditions)
            )
            key = f'"group_key" AS {quoted_name(sums.names[0])}, ' if keys else ""
            order = '1, "choice"' if keys else '"choice"'
            sql = f'SELECT {key}CASE "choice" {cases} END AS alert FROM named ORDER BY {order}'  # noqa: S608 - all quoted
            return bind_text(sql, with_query("named", alert, context))

    def _named(self, plan: Plan, context: Context) -> Release:
        """Groups and the index of what is named in them, of the `plan` of aggregates."""
        if not isinstance(plan, Project) or not isinstance(plan.source, Release):
            raise _no_release(plan, self.query)
        release = plan.source
        calls = {aggregate.column: aggregate.call for aggregate in release.aggregates}
        shown = [output.expression for output in plan.outputs]
        keys, summed = shown[: len(release.keys)], shown[len(release.keys) :]
        compared = tuple(
            _compared(calls[each], condition)
            for each, condition in zip(summed, self.conditions, strict=False)
            if isinstance(each, Column)
        )
        own_keys = [key.column for key in release.keys]
        if keys != own_keys or len(compared) < len(self.conditions):
            raise _not_so(span(self.query))
        call = AggregateCall(
            AggregateFunction.ABOVE_THRESHOLD,
            (*compared, Literal(self.firings, BIGINT)),
            distinct=False,
            filter=None,
            type=Integer(32),
            at=span(self.query.expressions[-1]) or self.conditions[-1].at,
        )
        names = ", ".join(condition.name for condition in self.conditions)
        column = context.names.column(f"{call.function.value}({names})", call.type)
        return replace(release, aggregates=(AggregateOutput(column, call),))


def read_alert(sql: str, words: list[Token]) -> Alert:
    """The alert that `sql` is, whose `tokens` are `words`; raises SyntaxFault or Refused."""
    whole = Span(words[0].start, words[-1].end + 1)
    clauses = by_clauses(words)
    if len(clauses) > 1:
        raise _not_so(whole)
    text, by_index = grouped_query(sql, words, clauses[0] if clauses else None)
    with error_span(by_index):
        tree = parse_query(text)
        if not isinstance(tree, exp.Select) or not tree.args.get("from_"):
            raise _not_so(whole)
        if any(tree.args.get(name) for name in _OTHER_CLAUSES):
            raise _not_so(span(tree))
        key = single_key(tree)
        if key is None and tree.args.get("group") is not None:
            raise _not_so(span(tree))
        if not 1 <= len(tree.expressions) <= MAX_CONDITIONS:
            raise TooComplex(
                f"an alert has 1 to {MAX_CONDITIONS} conditions, not {len(tree.expressions)}",
                at=span(tree),
                hint=f"write {_FORM}",
                note="alert",
            )
        conditions = tuple(map(_condition, tree.expressions))
        firings = _firings(tree)
        sums = [exp.Max(this=_summed(_comparison(each).this)) for each in tree.expressions]
        tree.set("expressions", [*(() if key is None else (key.copy(),)), *sums])
        tree.set("limit", None)
    return Alert(tree, conditions, firings, by_index)


def _firings(tree: exp.Select) -> int:
    """How many conditions are named: one, or as many as LIMIT says."""
    limit = tree.args.get("limit")
    if limit is None:
        return 1
    firings = written_number(limit.args.get("expression")) if isinstance(limit, exp.Limit) else None
    if firings is None or not 1 <= firings <= MAX_FIRINGS:
        raise Refused(
            f"an alert names 1 to {MAX_FIRINGS} conditions, each at its own price",
            at=span(limit) or span(tree),
            hint="write LIMIT 3, or leave it out to have the first one named",
            note="alert",
        )
    require_args(limit, "expression")
    return firings


def _comparison(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Alias) else node


def _condition(node: exp.Expr) -> Condition:
    comparison = _comparison(node)
    op = _COMPARISONS.get(type(comparison))
    threshold = None if op is None else _number(comparison.expression)
    if op is None or threshold is None:
        raise SyntaxFault(
            "a condition compares a count or a sum with a number", at=span(node), hint=_SUMS
        )
    name = node.alias if isinstance(node, exp.Alias) else comparison.sql()
    return Condition(name, op, threshold, span(node))


def _number(node: object) -> Fraction | None:
    """The constant that `node` is; None for anything else."""
    if isinstance(node, exp.Neg):
        number = _number(node.this)
        return None if number is None else -number
    if not isinstance(node, exp.Literal) or node.is_string or len(node.this) > _MAX_DIGITS:
        return None
    try:
        return Fraction(node.this)
    except ValueError:
        return None


_MAX_DIGITS: Final = 40


def _summed(node: exp.Expr) -> exp.Expr:
    """The value of a row that a count or a sum adds up, NULL or 0 where it adds nothing."""
    only: exp.Expr | None = None
    if isinstance(node, exp.Filter):
        require_args(node, "this", "expression")
        only, node = node.expression.this, node.this
    if isinstance(node, exp.Count | exp.Sum) and not isinstance(node.this, exp.Distinct):
        require_args(node, "this", "big_int")
        if isinstance(node, exp.Sum):
            return node.this if only is None else exp.Case(ifs=[exp.If(this=only, true=node.this)])
        conditions = [] if only is None else [only]
        if not isinstance(node.this, exp.Star):
            present = exp.Not(this=exp.Is(this=exp.Paren(this=node.this), expression=exp.Null()))
            conditions.insert(0, present)
        one, nothing = exp.Literal.number(1), exp.Literal.number(0)
        if not conditions:
            return one
        return exp.Case(ifs=[exp.If(this=exp.and_(*conditions), true=one)], default=nothing)
    raise SyntaxFault(
        "a condition compares a count or a sum with a number", at=span(node), hint=_SUMS
    )


def _unmatched() -> Refused:
    return Refused(
        "public rows without a private partner count for no alert",
        hint="write JOIN in place of LEFT JOIN: such groups are compared all the same",
        note="alert",
    )


def _compared(call: AggregateCall, condition: Condition) -> Expression:
    """What `call` is of, if it is a number, compared with the condition's threshold."""
    (value,) = call.arguments
    if not isinstance(value.type, Integer | Decimal | Double):
        raise TypeFault(
            f"an alert compares numbers, and {condition.name} sums values of type {value.type}",
            at=call.at,
            hint=_SUMS,
            note="alert",
        )
    return Compare(condition.op, value, Literal(condition.threshold, Double()))


def _no_release(plan: Plan, query: exp.Select) -> Refused:
    if visibility(plan) is Visibility.PRIVATE:
        return Refused(
            "each group would be of one unit alone",
            at=span(query.expressions[0]),
            hint="choose BY a column that units don't determine, such as a day",
            note="alert",
        )
    return Refused(
        "no row of this alert is private: its counts are no secret",
        at=span(query),
        hint="write SELECT count(*) … GROUP BY … HAVING count(*) > 100",
        note="alert",
    )


def _not_so(at: Span | None) -> SyntaxFault:
    return SyntaxFault("ALERT isn't written so", at=at, hint=f"write {_FORM}")
