"""The first stage, text → a compiled statement: all that is decided before the charge."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from dpsql.bind.saved_release import SavedReleaseNames
from dpsql.bind.statement import Statement
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bounding.public_facts import Facts
from dpsql.errors import Refused, SourceFault
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled import CompiledStatement, compile_bound
from dpsql.session.compile.cost_cap import meets_cost_cap
from dpsql.session.compile.deep_recursion import with_deep_stack
from dpsql.session.compile.error_target import min_loss_for_error
from dpsql.session.compile.generic.edition import of_edition
from dpsql.session.compile.generic.generic_plans import GenericPlansOfTerms, may_be_generic
from dpsql.session.compile.loss_conversion import check_delta_shares, query_loss
from dpsql.session.compile.request import (
    AlertRequest,
    AnswerRequest,
    Binder,
    DashboardRequest,
    Request,
    SynopsisRequest,
    binder_of,
    share_of_loss,
)
from dpsql.session.compile.source_facts import DataEdition
from dpsql.session.options import QueryOptions
from dpsql.session.saved.saved_releases import SavedReleaseFacts
from dpsql.sqltext.parser_log import without_warnings
from dpsql.structs import replace

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


class Compiler(Struct, frozen=True):
    """A statement and all that its proof depends on but for ε; `edition` is that of the data."""

    sql: str
    schema: Schema
    facts: Facts
    edition: DataEdition
    parameters: Parameters
    request: Request
    options: QueryOptions
    releases: SavedReleaseNames
    bind: Binder
    known: Callable[[str, Schema, Parameters], Statement | None]
    generic: GenericPlansOfTerms | None = None

    def compile(self, epsilon: Fraction) -> CompiledStatement:
        """The statement at `epsilon`.

        Of a shape that is known, and is short, it is made here: to wake a thread that may recurse
        deeply takes as long as that.
        """
        loss = share_of_loss(self.request, query_loss(self.schema, epsilon))
        # What the caller has set, such as the precision of decimals, is nothing to it.
        known = Context().run(self._of_known_shape, loss)
        return with_deep_stack(lambda: self._compiled(loss)) if known is None else known

    def _of_known_shape(self, loss: PrivacyLoss) -> CompiledStatement | None:
        if self.generic is None:
            return None
        statement = self.known(self.sql, self.schema, self.parameters)
        return None if statement is None else self.generic.known(statement, loss)

    def compile_for_target(self, epsilon: Fraction) -> CompiledStatement:
        """The statement at `epsilon`, or at the least ε that meets the error that is set."""
        compiled = self._at_target(epsilon)
        # Not in `compile`, by which an ε is looked for.
        check_delta_shares(one.step.measurement.loss for one in compiled.releases)
        return compiled

    def _at_target(self, epsilon: Fraction) -> CompiledStatement:
        max_error = self.options.price.max_error
        if max_error is None:
            return self.compile(epsilon)
        match self.request:
            case AnswerRequest():
                return min_loss_for_error(max_error, self.schema, self.compile)
            case AlertRequest():
                raise Refused(
                    "an alert spends what it says, and its error follows from that",
                    hint="SET dpsql.max_error = DEFAULT",
                    note="create_alert",
                )
            case SynopsisRequest():
                raise Refused(
                    "the error of a synopsis isn't known beforehand",
                    hint="SET dpsql.max_error = DEFAULT",
                    note="synopsis",
                )
            case DashboardRequest():
                raise Refused(
                    "a dashboard spends what it says, and its charts' errors follow from that",
                    hint="SET dpsql.max_error = DEFAULT",
                    note="dashboard",
                )
            case missing:
                assert_never(missing)

    @without_warnings()  # the text of what has no rule is written by sqlglot, which warns of it
    def _compiled(self, loss: PrivacyLoss) -> CompiledStatement:
        bind = binder_of(self.request, self.bind)
        statement = bind(self.sql, self.schema, self.parameters, self.releases)

        def compiled(of: Statement) -> CompiledStatement:
            return compile_bound(
                of,
                self.sql,
                self.schema,
                self.facts,
                loss,
                self.edition,
                self.request,
                self.options,
            )

        if self.generic is None:
            return compiled(statement)
        return self.generic.compiled(statement, loss, compiled)


def compile_statement(
    context: SessionContext,
    sql: str,
    options: QueryOptions,
    parameters: Parameters,
    request: Request,
    *,
    pays: bool = True,
) -> CompiledStatement:
    """`sql` bound, bounded, emitted and calibrated; nothing is charged for it.

    `pays`: the analyst's own cap may pay for a first look at kept tables that list its group keys,
    which is charged whatever becomes of the statement.
    """
    context.check_open()
    epsilon = epsilon_of_request(context, options, request)
    options = replace(options, epsilon=epsilon)
    pays = pays and meets_cost_cap(options.price, epsilon, context.schema)
    source = context.execution.facts()
    edition = edition_of(context, sql, context.execution.version(), pays=pays)
    own = context.edition_of(edition.version)

    def proved() -> CompiledStatement:
        compiler = compiler_of(context, sql, options, parameters, request, edition, pays=pays)
        if compiler.edition.files != source.files:
            # The version was asked for in between, and may be that of either.
            raise SourceFault(
                "the source has changed while the statement was read; nothing was charged",
                hint="ask again",
            )
        if may_be_generic(sql, context.schema, request, options):
            plans, generalised = context.plans.generic, context.execution.whole.shapes.generalised
            generic = GenericPlansOfTerms(plans, generalised, terms)
            compiler = replace(compiler, generic=generic)
        return compiler.compile_for_target(epsilon)

    facts, ladders = source.edition, tuple(one.entry for one in edition.ladders)
    terms = (options, request, edition.version, facts, ladders)
    key = (sql, tuple(sorted(parameters.items())), terms)
    if own == edition.version:
        return context.plans.get(key, proved)
    # Who has answers of their own has keys of their own, and the proof that all have.
    return context.plans.get(
        (own, key), lambda: of_edition(context.plans.proved.get(key, proved), own)
    )


_ANY_VERSION = "any"
"""Of the data, where no answer is looked up or stored."""


def looking_compiler(
    context: SessionContext,
    sql: str,
    options: QueryOptions,
    parameters: Parameters,
    request: Request,
) -> Compiler:
    """The compiler of `sql` for a look at what is proved of it, whatever version the data have."""
    edition = edition_of(context, sql, _ANY_VERSION, pays=False)
    return compiler_of(context, sql, options, parameters, request, edition, pays=False)


def compile_for_look(
    context: SessionContext,
    sql: str,
    options: QueryOptions,
    parameters: Parameters,
    request: Request,
) -> CompiledStatement:
    """`sql` compiled so, at the ε that it would spend."""
    epsilon = epsilon_of_request(context, options, request)
    options = replace(options, epsilon=epsilon)
    compiler = looking_compiler(context, sql, options, parameters, request)
    return compiler.compile_for_target(epsilon)


def edition_of(context: SessionContext, sql: str, version: str, *, pays: bool) -> DataEdition:
    """A `version` of the data with the ladders that may be seen for `sql`, or be paid for."""
    return DataEdition(version, context.saved.ladders(sql, context.execution.version, pays=pays))


def compiler_of(
    context: SessionContext,
    sql: str,
    options: QueryOptions,
    parameters: Parameters,
    request: Request,
    edition: DataEdition,
    *,
    pays: bool,
) -> Compiler:
    """The compiler of `sql`, over the facts of the session's source and its kept tables."""
    context.progress("proving what one unit can change")
    execution, saved = context.execution, context.saved
    source = execution.facts()
    facts = SavedReleaseFacts(source, saved, execution, pays=pays)
    return Compiler(
        sql,
        context.schema,
        facts,
        replace(edition, files=source.files, proofs=source.proofs),
        parameters,
        request,
        options,
        saved,
        execution.whole.bound,
        execution.whole.known,
    )


def epsilon_of_request(
    context: SessionContext, options: QueryOptions, request: Request
) -> Fraction:
    """What a statement spends, unless its error chooses that."""
    match request:
        case AnswerRequest():
            return context.default_epsilon if options.epsilon is None else options.epsilon
        case (
            AlertRequest(epsilon=epsilon)
            | SynopsisRequest(epsilon=epsilon)
            | DashboardRequest(epsilon=epsilon)
        ):
            return epsilon
        case missing:
            assert_never(missing)
