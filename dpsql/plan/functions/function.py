"""An entry of the registry: the facts about one scalar function."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from dpsql.engine.duckdb.constant_evaluation import Template
from dpsql.plan.expression import Call, Expression, Scalar
from dpsql.plan.functions.evaluation import Operand, evaluated
from dpsql.privacy.domain import Domain
from dpsql.schema.sql_type import SqlType


class Totalization(Enum):
    """How a call is written so that it can't raise.

    PLAIN: the function is total as it is. TRY: NULL where it would raise. FINITE: NULL where it
    would raise, and where it would be infinite or NaN.
    """

    PLAIN = "plain"
    TRY = "try"
    FINITE = "finite"


class Signature(Struct, frozen=True):
    """The types that the arguments are converted to, and the type of the result."""

    arguments: tuple[SqlType, ...]
    result: SqlType


class Application(Struct, frozen=True):
    """A call whose arguments are in `domains`; `template` is the expression DuckDB evaluates."""

    call: Call
    domains: tuple[Domain, ...]
    template: Template

    @property
    def null(self) -> bool:
        """An argument may be NULL."""
        return any(domain.nullable for domain in self.domains)

    @property
    def out_of_domain(self) -> bool:
        """An argument may be NULL, NaN, infinite or next to overflow."""
        return any(
            d.nullable or (d.values is None and (d.bounds is None or d.bounds.ends is None))
            for d in self.domains
        )

    def at(self, *columns: tuple[Scalar, ...]) -> tuple[Scalar, ...] | None:
        """The call's values, row by row of its arguments' `columns`; None if too many raise."""
        operands = tuple(
            Operand(column, argument.type)
            for column, argument in zip(columns, self.call.arguments, strict=True)
        )
        return evaluated(self.template, operands, self.call.type, len(columns[0]) if columns else 1)


Types = Callable[[tuple[Expression, ...]], Signature | None]
"""The signature of a call with these arguments; None if the function doesn't take them."""

Rule = Callable[[Application], Domain]
"""The domain of a call when its arguments are in their domains."""


class Function(Struct, frozen=True):
    """One function: `name` is dpsql's, `engine` DuckDB's expression for a number of arguments.

    `types` and `domain` are the rules for types and domains. `constants` are the indices of
    arguments that must be constants, checked by `accepts`; where `probed`, DuckDB is asked too
    whether it takes them. `unify` converts all arguments to their common type first. `usage` is an
    example of a call that is accepted.
    """

    name: str
    types: Types
    domain: Rule
    total: Totalization
    usage: str
    aliases: tuple[str, ...] = ()
    constants: frozenset[int] = frozenset()
    accepts: Callable[[tuple[Expression, ...]], bool] = lambda _: True
    probed: bool = False
    unify: bool = False
    engine: Callable[[int], Template] | None = None

    def applied(self, call: Call, domains: tuple[Domain, ...]) -> Application:
        """The application of this function in `call`, over arguments in `domains`."""
        return Application(call, domains, self.template(len(domains)))

    def template(self, arity: int) -> Template:
        """The expression that DuckDB evaluates for a call with `arity` arguments."""
        return self.engine(arity) if self.engine else (self.name, *range(arity))
