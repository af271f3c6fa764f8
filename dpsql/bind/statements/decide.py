"""DECIDE AMONG losses FROM … [WHERE …] BY round: an expert for each round, by the rounds before it.

    DECIDE AMONG late_a AS a, late_b AS b FROM trips WHERE line = 7 BY day

It is bound as a query of aggregates by round, SELECT day, max(late_a), max(late_b) …, whose
arguments become those of one choice. The rounds are those that public facts list, in ascending
order; rows whose round is NULL are in none.
"""

from __future__ import annotations

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
from dpsql.bind.syntax.parse import parse_query, span
from dpsql.errors import Error, Refused, Span, SyntaxFault, TooComplex, TypeFault
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import Plan, Project, Release
from dpsql.plan.output_columns import output_columns
from dpsql.schema.sql_type import Decimal, Double, Integer, Varchar
from dpsql.structs import replace

MAX_EXPERTS: Final = 100
"""The largest number of experts of a decision."""

_FORM: Final = "DECIDE AMONG loss_a, loss_b FROM table WHERE … BY day"
_OTHER_CLAUSES: Final = ("distinct", "having", "windows", "qualify", "order", "limit", "offset")


def is_decision(words: list[Token]) -> bool:
    """Whether the statement begins with DECIDE AMONG."""
    return [word.text.casefold() for word in words[:2]] == ["decide", "among"]


class Decision(Struct, frozen=True):
    """A decision as a query that aggregates each expert's losses in each round.

    `experts` are their names. The query's text has GROUP before the BY at `by`, in the numbered
    text of the statement, and is longer by that.
    """

    query: exp.Select
    experts: tuple[str, ...]
    by: int

    def bound(self, context: Context) -> BoundQuery:
        """The plan of one row for each round, with the name of the expert that is chosen."""
        with error_span(self.by):
            losses = bind_aggregates(self.query, context, _unmatched())
            chosen = _chosen(losses.plan, self.experts, self.query, context)
            keys = keys_in_statement(chosen.keys, self.by)
            decided = BoundQuery(replace(chosen, keys=keys), ("round", "choice"))
            named = with_query("decided", decided, context)
            cases = " ".join(
                f"WHEN {index} THEN {quoted_text(name)}" for index, name in enumerate(self.experts)
            )
            name = quoted_name(losses.names[0])
            columns = f'"round" AS {name}, CASE "choice" {cases} END AS expert'
            sql = f"SELECT {columns} FROM decided ORDER BY 1"  # noqa: S608 - all quoted
            return bind_text(sql, named)


def read_decision(sql: str, words: list[Token]) -> Decision:
    """The decision that `sql` is, whose `tokens` are `words`; raises SyntaxFault or Refused."""
    clauses = by_clauses(words)
    if len(clauses) != 1:
        raise _not_so(Span(words[0].start, words[-1].end + 1))
    text, by_index = grouped_query(sql, words, clauses[0])
    with error_span(by_index):
        tree = parse_query(text)
        if not isinstance(tree, exp.Select):
            raise _not_so(Span(words[0].start, words[-1].end + 1))
        if any(tree.args.get(name) for name in _OTHER_CLAUSES):
            raise _not_so(span(tree))
        key = single_key(tree)
        if key is None:
            raise _not_so(span(tree))
        experts = _experts(tree)
        tree.set("expressions", [key.copy(), *map(_aggregated, tree.expressions)])
    return Decision(tree, experts, by_index)


def _unmatched() -> Refused:
    return Refused(
        "public rows without a private partner have no losses",
        hint="write JOIN in place of LEFT JOIN: such rounds have a row all the same",
        note="weighted_majority",
    )


def _experts(tree: exp.Select) -> tuple[str, ...]:
    """The name of each expert: the alias of its losses, or their column's name."""
    losses = tree.expressions
    if not 2 <= len(losses) <= MAX_EXPERTS:
        raise TooComplex(
            f"a decision is among 2 to {MAX_EXPERTS} experts, not {len(losses)}",
            at=span(losses[0]) if losses else None,
            hint=f"write {_FORM}",
            note="weighted_majority",
        )
    names: list[str] = []
    for loss in losses:
        name = loss.alias if isinstance(loss, exp.Alias) else ""
        if isinstance(loss, exp.Column) and not isinstance(loss.this, exp.Star):
            name = loss.name
        if not name:
            raise SyntaxFault(
                "an expert's losses have no name",
                at=span(loss),
                hint="write … AS name after each expression, and name columns one by one",
            )
        if name.casefold() in map(str.casefold, names):
            raise SyntaxFault(
                f"two experts are called {name}",
                at=span(loss),
                hint="give one of them another name: … AS name",
            )
        names.append(name)
    return tuple(names)


def _aggregated(loss: exp.Expr) -> exp.Expr:
    """An aggregate that takes values of any type: what is no loss is refused when it is bound."""
    return exp.Max(this=loss.this if isinstance(loss, exp.Alias) else loss)


def _chosen(plan: Plan, experts: tuple[str, ...], query: exp.Select, context: Context) -> Release:
    """Rounds and the index of each one's expert, of the `plan` of aggregates of losses."""
    if not isinstance(plan, Project) or not isinstance(plan.source, Release):
        raise _no_release(plan, experts, query)
    release = plan.source
    calls = {aggregate.column: aggregate.call for aggregate in release.aggregates}
    round_, *counted = [output.expression for output in plan.outputs]
    if len(release.keys) != 1 or round_ != release.keys[0].column or len(counted) != len(experts):
        raise _not_so(span(query))
    losses = tuple(
        _loss(calls[each], name)
        for each, name in zip(counted, experts, strict=True)
        if isinstance(each, Column)
    )
    if len(losses) < len(experts):
        raise _not_so(span(query))
    call = AggregateCall(
        AggregateFunction.WEIGHTED_MAJORITY,
        losses,
        distinct=False,
        filter=None,
        type=Integer(32),
        at=span(query.expressions[1]),
    )
    name = f"{call.function.value}({', '.join(experts)})"
    choice = AggregateOutput(context.names.column(name, call.type), call)
    return replace(release, aggregates=(choice,))


def _loss(call: AggregateCall, name: str) -> Expression:
    """What `call` is of, if it is a number."""
    (loss,) = call.arguments
    if not isinstance(loss.type, Integer | Decimal | Double):
        raise _no_number(f"{name} is of type {loss.type}", call.at)
    return loss


def _no_number(what: str, at: Span | None) -> TypeFault:
    return TypeFault(
        f"losses are numbers, and {what}",
        at=at,
        hint="write a number for each value: CASE WHEN … THEN 1 ELSE 0 END AS name",
        note="weighted_majority",
    )


def _no_release(plan: Plan, experts: tuple[str, ...], query: exp.Select) -> Error:
    if visibility(plan) is Visibility.PRIVATE:
        return Refused(
            "each round would be of one unit alone",
            at=span(query.expressions[0]),
            hint="choose BY a column that units don't determine, such as a day",
            note="weighted_majority",
        )
    # Of private texts no single release has the greatest.
    for name, column, loss in zip(
        experts, output_columns(plan)[1:], query.expressions[1:], strict=True
    ):
        if isinstance(column.type, Varchar):
            return _no_number(f"{name} is of type {column.type}", span(loss))
    return Refused(
        "no row of these losses is private: they are no secret",
        at=span(query),
        hint="write SELECT round, sum(loss_a), sum(loss_b) … GROUP BY round",
        note="weighted_majority",
    )


def _not_so(at: Span | None) -> SyntaxFault:
    return SyntaxFault("DECIDE isn't written so", at=at, hint=f"write {_FORM}")
