"""A statement bound, bounded, emitted and calibrated: everything but the run and its charge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count

import pyarrow as pa
from msgspec import Struct

from dpsql.bind.saved_release import NO_RELEASES, SavedReleaseNames
from dpsql.bind.statement import NO_PARAMETERS, Statement, bind
from dpsql.bind.statements.create_synopsis import query_span
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bounding.options import ALL_GROUPS
from dpsql.bounding.public_facts import Facts
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.engine.opening import supported
from dpsql.errors import Error, SeveralRows
from dpsql.physical.way import Server
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.operator import Plan, Release
from dpsql.plan.prune_columns import unused
from dpsql.plan.traversal import operators
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.allocation.noise_allocation import has_gaussian_noise
from dpsql.release.columns.value_errors import has_value_errors
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema, Table
from dpsql.schema.source_location import ServerSource
from dpsql.session.answer.consistent_totals import Consistency, consistency
from dpsql.session.compile.column_provenance import TaggedUnion, tagged_union
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.margin_reading import with_margins
from dpsql.session.compile.plan_choice.alert_counts import AlertCounts, has_alert
from dpsql.session.compile.plan_choice.counted_keys import choose_key_count, key_counts
from dpsql.session.compile.plan_choice.frequent_key import FrequentKeys, sorts_counts
from dpsql.session.compile.proofs.release_proofs import ReleaseProofs
from dpsql.session.compile.release_compiler import ReleaseCompiler, is_shown_by_row, saved_tables
from dpsql.session.compile.request import (
    ANSWER,
    AlertRequest,
    AnswerRequest,
    Request,
    TableRequest,
)
from dpsql.session.compile.row_numbers import NumberedRows, numbered_rows
from dpsql.session.compile.source_facts import DataEdition
from dpsql.session.explain.plan_visibility import Opaque, opaque
from dpsql.session.ladders.limit_choice import LimitChoice
from dpsql.session.ladders.limit_chooser import LimitChooser
from dpsql.session.options import DEFAULT_OPTIONS, QueryOptions
from dpsql.structs import not_compared, replace


@not_compared("consistency")
class CompiledStatement(Struct, frozen=True):
    """A statement that is ready to be charged and run; no private row was read for it.

    Its rows are told apart if they are `tagged_union`, and have numbers if they are `numbered`. The
    releases' keys are those of answers for `version` of the data. `consistency` are made to add up
    before `postprocessing_sql`. `saved_tables` are kept by analysts, and read anywhere in the plan.
    """

    statement: Statement
    plan: Plan
    releases: tuple[CompiledRelease, ...]
    query_loss: PrivacyLoss
    version: str
    request: Request
    options: QueryOptions
    tagged_union: TaggedUnion | None
    numbered: NumberedRows | None
    consistency: Consistency
    saved_tables: tuple[Table, ...]

    @property
    def postprocessing_sql(self) -> str:
        """The SQL that makes the answer of the released tables."""
        return rendered(emit_plan(self._shown, {r.release: r.name for r in self.releases}))

    @property
    def finishing_plan(self) -> Plan:
        """What makes the answer, with the numbers that errors row by row need."""
        return self._shown if self.numbered is None else self.numbered.plan

    @property
    def finishing_names(self) -> dict[Release, str]:
        """What the released tables are called that `finishing_plan` reads."""
        names = {r.release: r.name for r in self.releases}
        if self.numbered is not None:
            names |= {new: names[old] for new, old in self.numbered.releases.items()}
        return names

    @property
    def _shown(self) -> Plan:
        return self.plan if self.tagged_union is None else self.tagged_union.plan

    def finishing_tables(self, released: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """The released tables, by name, as `finishing_plan` reads them."""
        if self.numbered is None:
            return dict(released)
        own = {r.name: released[r.name] for r in self.releases}
        return {**released, **self.numbered.tables(own)}

    @property
    def loss(self) -> PrivacyLoss | None:
        """What all releases cost together, None if nothing private is read."""
        # Two releases of one key are one answer, which is drawn and charged once.
        once = {release.key: release.step.measurement.loss for release in self.releases}
        losses = list(once.values())
        return sum(losses[1:], losses[0]) if losses else None


def compile_sql(
    sql: str,
    schema: Schema,
    facts: Facts,
    query_loss: PrivacyLoss,
    version: str,
    parameters: Parameters = NO_PARAMETERS,
    options: QueryOptions = DEFAULT_OPTIONS,
    releases: SavedReleaseNames = NO_RELEASES,
) -> CompiledStatement:
    """Everything that SQL, schema and public facts decide; `version` names that of the data."""
    statement = bind(sql, schema, parameters, releases)
    edition = DataEdition(version)
    return compile_bound(statement, sql, schema, facts, query_loss, edition, ANSWER, options)


def compile_bound(
    statement: Statement,
    sql: str,
    schema: Schema,
    facts: Facts,
    query_loss: PrivacyLoss,
    edition: DataEdition,
    request: Request,
    options: QueryOptions,
) -> CompiledStatement:
    """The same of `sql` as it was bound for `request`."""
    if isinstance(request, TableRequest):
        drawn = replace(options.answer, consistent=False)
        options = replace(options, release=ALL_GROUPS, answer=drawn)
    if options.limits.norm_order is None:
        order = 2 if has_gaussian_noise(query_loss) else 1
        options = replace(options, limits=replace(options.limits, norm_order=order))
    _check_single(statement, facts)
    proofs = ReleaseProofs() if edition.proofs is None else edition.proofs
    plan = proofs.derived(statement.plan, _trimmed)
    if not isinstance(request, TableRequest):
        distance = schema.neighbor_distance
        is_of_sample = schema.budget.sample is not None
        if proofs.derived(plan, sorts_counts):
            plan = FrequentKeys(facts, options, distance, query_loss, is_of_sample).chosen(plan)
        if not isinstance(request, AlertRequest) and proofs.derived(plan, has_alert):
            plan = AlertCounts(facts, options, distance, query_loss).chosen(plan)
    releases = proofs.derived(plan, _releases)
    names = dict(zip(releases, _free_names(schema), strict=False))
    server = _server(schema)
    version, by_row = edition.version, proofs.derived(plan, is_shown_by_row)
    # What it may cost is shared once it is known how many releases are charged.
    share = query_loss.divided(max(1, len(releases)))
    chooser = LimitChooser(schema, facts, edition.ladders, share)
    compiler = ReleaseCompiler(
        schema,
        facts,
        version,
        request,
        options,
        names,
        server,
        chooser,
        proofs,
        by_row,
        statement.charts,
    )
    hidden = {release: opaque(release, plan) for release in releases}
    bounded: dict[Release, BoundedRelease] = {}
    choices: dict[Release, LimitChoice] = {}
    for release in releases:
        with _error_position(sql, request), _hidden_note(hidden[release]):
            bounded[release], choices[release] = compiler.bounded(release)

    def compile_all(share: PrivacyLoss) -> tuple[CompiledRelease, ...]:
        compiled: dict[str, CompiledRelease] = {}
        for release in releases:
            with _error_position(sql, request), _hidden_note(hidden[release]):
                keyed = bounded[release]
                if isinstance(request, AnswerRequest) and not options.release.weighted_keys:
                    ways = proofs.derived(keyed, key_counts, schema.neighbor_distance)
                    keyed = choose_key_count(keyed, ways, share)
                one = compiler.compile(release, keyed, share, compiled)
                one = replace(one, step=replace(one.step, files=edition.files))
                view, choice = hidden[release], choices[release]
                compiled[names[release]] = replace(one, opaque=view)
                if view is None:
                    compiled[names[release]] = replace(
                        one,
                        limit_notes=choice.notes,
                        biases=choice.biases,
                        key_biases=choice.key_biases,
                    )
        return tuple(compiled.values())

    charged = compiler.charged_count(bounded)
    compiled = compile_all(query_loss.divided(charged))
    if len({r.key for r in compiled if r.step.measurement.loss.amount}) > charged:
        # Those that ask for the same were measured otherwise: together they may cost no more.
        compiled = compile_all(query_loss.divided(len(releases)))
    tagged = proofs.derived(plan, tagged_union)
    shown = plan if tagged is None else tagged.plan
    return CompiledStatement(
        statement,
        plan,
        compiled,
        query_loss,
        version,
        request,
        options,
        tagged,
        proofs.derived(shown, numbered_rows) if _has_errors(compiled) else None,
        consistency(compiled, options.answer),
        proofs.derived(plan, saved_tables),
    )


def _trimmed(plan: Plan) -> Plan:
    return with_margins(unused(plan))


def _releases(plan: Plan) -> tuple[Release, ...]:
    return tuple(dict.fromkeys(part for part in operators(plan) if isinstance(part, Release)))


def _free_names(schema: Schema) -> Iterator[str]:
    """What releases are called: an engine refuses tables that would hide declared ones."""
    taken = {name.casefold() for name in schema.tables}
    return (name for number in count() if (name := f"release_{number}") not in taken)


def _server(schema: Schema) -> Server | None:
    """The source's server, if it has one, and what that computes."""
    source = schema.source
    # A description of the source lists all tables: it isn't made of files for every statement.
    computes = supported(engine_source(schema)) if isinstance(source, ServerSource) else None
    if not isinstance(source, ServerSource) or computes is None:
        return None
    return Server(computes, source.push_down)


def _has_errors(releases: Sequence[CompiledRelease]) -> bool:
    """Whether a released column has errors row by row, for which rows are numbered."""
    return any(
        has_value_errors(output)
        for release in releases
        if release.opaque is None and release.step.measurement.table_mechanism is None
        for output in release.step.bounded.outputs
    )


def _check_single(statement: Statement, facts: Facts) -> None:
    """Refuse to take the first of several public rows for the only one."""
    for one in statement.single:
        counted = facts.rows(with_margins(one.count), 1)
        number = counted[0][0] if counted else None
        if not isinstance(number, int) or number > 1:
            raise SeveralRows(
                "a scalar subquery has several rows",
                at=one.at,
                hint="aggregate in it: (SELECT max(…) FROM …), or write x IN (SELECT …)",
                note="subqueries",
            )


@contextmanager
def _error_position(sql: str, request: Request) -> Iterator[None]:
    """What has no synopsis, no dashboard or no alert is the whole query."""
    try:
        yield
    except Error as error:
        if isinstance(request, TableRequest | AlertRequest):
            error.at = error.at or query_span(sql)
        raise


@contextmanager
def _hidden_note(hidden: Opaque | None) -> Iterator[None]:
    """Why a view's own release can't be made is told in the view's name."""
    try:
        yield
    except Error as error:
        if hidden is None:
            raise
        raise hidden.error(error) from None
