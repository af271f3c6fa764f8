"""The PostgreSQL type of each expression of a statement, derived from the schema's columns.

Nothing is guessed: an expression without a rule has no type, and a pass that needs its type refuses
the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

from dpsql.pgwire.sql.types import pg_type as k
from dpsql.pgwire.sql.types.column_source import Sources
from dpsql.pgwire.sql.types.pg_type import Kind
from dpsql.pgwire.sql.types.return_types import FIXED, NAMED
from dpsql.schema.model import Schema

_ALIKE: Final = (
    exp.Abs,
    exp.Min,
    exp.Max,
    exp.Paren,
    exp.Filter,
    exp.Window,
    exp.IgnoreNulls,
    exp.RespectNulls,
    exp.Lag,
    exp.Lead,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
    exp.BitwiseNot,
    exp.BitwiseLeftShift,
    exp.BitwiseRightShift,
    exp.AnyValue,
    exp.Alias,
    exp.Order,
    exp.Ordered,
)
_AVERAGES: Final = (
    exp.Avg,
    exp.Stddev,
    exp.StddevSamp,
    exp.StddevPop,
    exp.Variance,
    exp.VariancePop,
)
_ROUNDED: Final = (exp.Floor, exp.Ceil, exp.Sign, exp.Sqrt, exp.Exp, exp.Ln)


class Typing:
    """The types of one statement's expressions; `parameters` are the OIDs that clients declare."""

    def __init__(self, schema: Schema, parameters: Sequence[int] = ()) -> None:
        self.sources = Sources(schema, self.of)
        self._parameters = parameters
        self._rules: dict[type[exp.Expr], Callable[[exp.Expr], Kind | None]] = {
            exp.Parameter: self._parameter,
            exp.Placeholder: self._parameter,
            exp.Anonymous: self._anonymous,
            exp.TimestampTrunc: self._truncated,
            exp.DateTrunc: self._truncated,
            exp.DateBin: self._binned,
            exp.GenerateSeries: self._series,
            exp.ExplodingGenerateSeries: self._series,
            exp.AtTimeZone: self._at_zone,
            exp.Neg: self._negated,
            exp.Add: self._paired,
            exp.Sub: self._paired,
            exp.Mul: self._paired,
            exp.Div: self._paired,
            exp.IntDiv: self._paired,
            exp.Mod: self._paired,
            exp.BitwiseAnd: self._bits,
            exp.BitwiseOr: self._bits,
            exp.BitwiseXor: self._bits,
            exp.Pow: self._power,
            exp.Round: self._round,
            exp.Trunc: self._round,
            exp.Log: self._log,
            exp.Sum: self._sum,
            exp.Coalesce: self._listed,
            exp.Greatest: self._listed,
            exp.Least: self._listed,
            exp.Distinct: self._distinct,
            exp.Nullif: self._nullif,
            exp.Case: self._case,
            exp.If: self._if,
            exp.WithinGroup: self._within_group,
        }
        self._open: set[int] = set()
        self._known: dict[int, tuple[exp.Expr, Kind | None]] = {}

    def of(self, node: exp.Expr) -> Kind | None:
        """The type of `node`, None if it can't be derived."""
        if id(node) in self._known:
            return self._known[id(node)][1]
        if id(node) in self._open:
            return None
        self._open.add(id(node))
        try:
            kind = self._of(node)
        finally:
            self._open.discard(id(node))
        # Stored with its node: no other node gets the same id as long as this one lives.
        self._known[id(node)] = node, kind
        return kind

    def _of(self, node: exp.Expr) -> Kind | None:
        if type(node) in self._rules:
            return self._rules[type(node)](node)
        for kind, nodes in FIXED:
            if isinstance(node, nodes):
                return kind
        match node:
            case exp.Literal():
                return Kind.UNKNOWN if node.is_string else k.of_number(node.this)
            case exp.Column():
                return self.sources.column(node)
            case exp.Cast():
                return k.of_written(node.to)
            case exp.Subquery():
                outputs = self.sources.outputs(node.this)
                return outputs[0][1] if outputs else None
            case _ if isinstance(node, _ALIKE):
                return self.of(node.this)
            case _ if isinstance(node, _AVERAGES):
                return k.averaged(self.of(node.this))
            case _ if isinstance(node, _ROUNDED):
                return k.rounded(self.of(node.this))
            case _:
                return None

    def _parameter(self, node: exp.Expr) -> Kind | None:
        number = int(node.name) if node.name.isdigit() else 0
        declared = self._parameters[number - 1] if 0 < number <= len(self._parameters) else 0
        return k.of_oid(declared)

    def _anonymous(self, node: exp.Expr) -> Kind | None:
        match node.name.lower(), node.expressions:
            case "mod", [left, right]:
                return k.common((self.of(left), self.of(right)))
            case (("gcd" | "lcm"), [left, right]):
                return k.common((self.of(left), self.of(right)))
            case "timezone", [_, moment]:
                return k.at_zone(self.of(moment))
            case name, _:
                return NAMED.get(name)

    def _negated(self, node: exp.Expr) -> Kind | None:
        """-2147483648 is an integer, though 2147483648 is none."""
        number = node.this
        if isinstance(number, exp.Literal) and not number.is_string and number.this.isdigit():
            return k.of_number(str(max(0, int(number.this) - 1)))
        return self.of(number)

    def _paired(self, node: exp.Expr) -> Kind | None:
        return k.arithmetic(node, self.of(node.this), self.of(node.expression))

    def _truncated(self, node: exp.Expr) -> Kind | None:
        return k.truncated(self.of(node.this))

    def _binned(self, node: exp.Expr) -> Kind | None:
        return k.truncated(self.of(node.expression))

    def _series(self, node: exp.Expr) -> Kind | None:
        ends = (node.args.get(name) for name in ("start", "end"))
        return k.series(self.of(end) for end in ends if end is not None)

    def _at_zone(self, node: exp.Expr) -> Kind | None:
        return k.at_zone(self.of(node.this))

    def _bits(self, node: exp.Expr) -> Kind | None:
        return k.common((self.of(node.this), self.of(node.expression)))

    def _power(self, node: exp.Expr) -> Kind | None:
        kind = k.common((self.of(node.this), self.of(node.expression)))
        return k.rounded(kind)

    def _round(self, node: exp.Expr) -> Kind | None:
        return Kind.NUMERIC if node.args.get("decimals") else k.rounded(self.of(node.this))

    def _log(self, node: exp.Expr) -> Kind | None:
        return Kind.NUMERIC if node.args.get("expression") else k.rounded(self.of(node.this))

    def _sum(self, node: exp.Expr) -> Kind | None:
        return k.summed(self.of(node.this))

    def _listed(self, node: exp.Expr) -> Kind | None:
        return k.common(map(self.of, [node.this, *node.expressions]))

    def _distinct(self, node: exp.Expr) -> Kind | None:
        return self.of(node.expressions[0])

    def _nullif(self, node: exp.Expr) -> Kind | None:
        first = self.of(node.this)
        return self.of(node.expression) if first is Kind.UNKNOWN else first

    def _case(self, node: exp.Expr) -> Kind | None:
        arms = [arm.args["true"] for arm in node.args["ifs"]]
        default = node.args.get("default")
        return k.common(map(self.of, [*arms, *([default] if default else [])]))

    def _if(self, node: exp.Expr) -> Kind | None:
        parts = (node.args["true"], node.args.get("false"))
        return k.common(self.of(part) for part in parts if part)

    def _within_group(self, node: exp.Expr) -> Kind | None:
        if isinstance(node.this, exp.PercentileDisc | exp.Mode):
            return self.of(node.expression.expressions[0])
        return self.of(node.this)


class Held(Typing):
    """The types in which the pipeline holds values: quotients, means and roots are floats there."""

    def _of(self, node: exp.Expr) -> Kind | None:
        kind = super()._of(node)
        if kind is not Kind.NUMERIC:
            return kind
        match node:
            case exp.Div() | exp.Pow() | exp.Log() | exp.Sqrt() | exp.Exp() | exp.Ln():
                return Kind.FLOAT8
            case exp.Floor() | exp.Ceil() if node.find(exp.Anonymous) is not None:
                return Kind.FLOAT8  # of div(), which is an integer here
            case exp.Extract() if node.this.name.lower() in {"epoch", "julian"}:
                return Kind.FLOAT8
            case exp.Cast() if not node.to.expressions:
                return kind if _exact(self.of(node.this)) else Kind.FLOAT8
            case _ if isinstance(node, _AVERAGES):
                return Kind.FLOAT8
            case _:
                return kind


def _exact(kind: Kind | None) -> bool:
    return kind in {*k.INTEGERS, Kind.NUMERIC, Kind.UNKNOWN}
