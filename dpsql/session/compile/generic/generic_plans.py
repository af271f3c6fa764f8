"""Generic plans: what was compiled of statements with parameters, for those that come after.

A plan is made when a second statement comes that differs from another in constants alone; it is
used if it gives that one what it has without it, and else such statements are compiled one by one.
Nothing that is proved rests on that comparison: a generic plan's proof never saw a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import Enum, auto
from fractions import Fraction
from typing import TypeVar

from msgspec import Struct

from dpsql.bind.statement import Statement
from dpsql.emit.dialect.duckdb.parameter import constants
from dpsql.emit.sql.parameter_mark import has_marks
from dpsql.errors import Error
from dpsql.plan.bounded_release.engine_query import CachedSums, UnitBatches
from dpsql.plan.expression import Literal
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.schema.source_location import ServerSource
from dpsql.schema.sql_type import SqlType
from dpsql.session.answer.consistent_totals import consistency
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.generic.answer_keys import Keys, identified
from dpsql.session.compile.generic.instantiation import Template
from dpsql.session.compile.generic.parameters import Generalisation, GenericStatement
from dpsql.session.compile.proofs.recently_used import RecentlyUsed
from dpsql.session.compile.request import AnswerRequest, Request
from dpsql.session.digest.answer_identity import AnswerIdentity
from dpsql.session.digest.shared_parts import SharedParts
from dpsql.session.options import QueryOptions
from dpsql.structs import replace

Batched = TypeVar("Batched", UnitBatches | None, CachedSums | None)

Compile = Callable[[Statement], CompiledStatement]


class _Seen(Enum):
    """What is known of statements that have no generic plan."""

    ONCE = auto()
    COMPILED_EACH = auto()


class GenericPlan:
    """What was compiled of a statement with parameters."""

    def __init__(self, compiled: CompiledStatement, types: tuple[SqlType, ...]) -> None:
        """`types` are those of the parameters."""
        self._compiled = compiled
        keys = {release.release: release.key for release in compiled.releases}
        self._digests = {
            release.name: SharedParts(release.step.bounded, keys) for release in compiled.releases
        }
        self._parts = Template(
            (
                compiled.plan,
                compiled.releases,
                compiled.tagged_union,
                compiled.numbered,
            ),
            types,
            is_compiled=True,
        )

    def instance(
        self, statement: Statement, literals: tuple[Literal, ...]
    ) -> CompiledStatement | None:
        """`statement` compiled, which has these `literals` where the plan has parameters.

        None where two of its releases ask for the same by them: they are one, with the whole loss.
        """
        filled = self._parts.instance(constants(literals))
        plan, releases, tagged_union, numbered = filled
        releases = identified(releases, self._of_other_constants)
        if len({release.key for release in releases}) < len(releases):
            return None
        return replace(
            self._compiled,
            statement=statement,
            plan=plan,
            releases=releases,
            tagged_union=tagged_union,
            numbered=numbered,
            # By a constant, two releases may read the same rows, and add up.
            consistency=consistency(releases, self._compiled.options.answer),
        )

    def _of_other_constants(self, release: CompiledRelease, keys: Keys) -> AnswerIdentity:
        """The identity of `release`, which asks for another answer than with parameters."""
        meaning = self._digests[release.name].release_digest(release.step.bounded, keys)
        return replace(release.identity, meaning=meaning)


_Known = _Seen | GenericPlan


GenericPlans = RecentlyUsed[Hashable, _Known]
"""The generic plans that were used last, by all that their compilation depends on."""


class GenericPlansOfTerms(Struct, frozen=True):
    """The generic `plans` of statements that have `terms` in common, whose facts and options are.

    `generalised` is a statement with parameters.
    """

    plans: GenericPlans
    generalised: Callable[[Statement], Generalisation | None]
    terms: Hashable

    def known(self, statement: Statement, loss: PrivacyLoss) -> CompiledStatement | None:
        """`statement` for `loss`, if there is a plan of it."""
        generalisation = self.generalised(statement)
        if generalisation is None:
            return None
        generic, literals = generalisation
        plan = self.plans.get(self._key(generic, loss))
        return plan.instance(statement, literals) if isinstance(plan, GenericPlan) else None

    def _key(self, generic: GenericStatement, loss: PrivacyLoss) -> Hashable:
        return generic.statement, loss, self.terms

    def compiled(
        self, statement: Statement, loss: PrivacyLoss, compile_bound: Compile
    ) -> CompiledStatement:
        """`statement` for `loss`, as `compile_bound` makes it."""
        generalisation = self.generalised(statement)
        if generalisation is None:
            return compile_bound(statement)
        generic, literals = generalisation
        key = self._key(generic, loss)
        known = self.plans.get(key)
        if isinstance(known, GenericPlan):
            return known.instance(statement, literals) or compile_bound(statement)
        compiled = compile_bound(statement)
        if known is None and not compiled.saved_tables:  # names may mean other tables by then
            self.plans.put(key, _Seen.ONCE)
        elif known is _Seen.ONCE:
            plan = generic_plan(generic, literals, compiled, compile_bound)
            self.plans.put(key, plan or _Seen.COMPILED_EACH)
        return compiled


def generic_plan(
    generic: GenericStatement,
    literals: tuple[Literal, ...],
    compiled: CompiledStatement,
    compile_bound: Compile,
) -> GenericPlan | None:
    """The plan of `generic`, if it gives `compiled` with these `literals`."""
    try:
        plan = GenericPlan(compile_bound(generic.statement), generic.types)
    except Error:
        return None
    own = plan.instance(compiled.statement, literals)
    return plan if own is not None and as_run(own) == as_run(compiled) else None


def may_be_generic(sql: str, schema: Schema, request: Request, options: QueryOptions) -> bool:
    """Whether statements like `sql` may share a plan: on a server, SQL is written otherwise.

    One that looks for its own ε is compiled at many, each of which would be remembered.
    """
    return (
        isinstance(request, AnswerRequest)
        and options.price.max_error is None
        and not isinstance(schema.source, ServerSource)
        and not has_marks(sql)
    )


def as_run(compiled: CompiledStatement) -> CompiledStatement:
    """`compiled` without its estimates of time, which differ from constant to constant.

    Nor has it the text that an engine parses once, which is the same as that which is compared.
    """
    return replace(compiled, releases=tuple(map(_release_as_run, compiled.releases)))


def _release_as_run(release: CompiledRelease) -> CompiledRelease:
    step = release.step
    fallback = step.without_sidecar
    if fallback is not None:
        query = replace(fallback.query, parameterized=None)
        fallback = replace(fallback, query=query, batches=_unestimated(fallback.batches))
    unlimited = step.unlimited
    if unlimited is not None:
        unlimited = replace(unlimited, query=replace(unlimited.query, parameterized=None))
    step = replace(
        step,
        query=replace(step.query, parameterized=None),
        batches=_unestimated(step.batches),
        without_sidecar=fallback,
        cached_sums=_unestimated(step.cached_sums),
        unlimited=unlimited,
    )
    candidates = tuple(
        replace(each, estimate=Fraction(0)) for each in release.choice.candidates[:1]
    )
    return replace(release, step=step, choice=replace(release.choice, candidates=candidates))


def _unestimated(batched: Batched) -> Batched:
    if batched is None:
        return None
    return replace(batched, policy=replace(batched.policy, selectivity=Fraction(1)))
