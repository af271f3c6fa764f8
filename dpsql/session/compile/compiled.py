"""A statement bound, bounded, emitted and calibrated: everything but the run and its charge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import assert_never

import pyarrow as pa

from dpsql.analysis.local_privacy import local_only
from dpsql.analysis.sensitivity import Sensitivity, sensitivity
from dpsql.bind.saved_release import NO_RELEASES, SavedReleaseNames
from dpsql.bind.statement import NO_PARAMETERS, Statement, bind
from dpsql.bind.statements.create_synopsis import query_span
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bounding.bound_release import bound_release
from dpsql.bounding.options import ALL_GROUPS
from dpsql.bounding.public_facts import Facts
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.engine.digest import digest_of
from dpsql.engine.opening import supported
from dpsql.errors import Error, SeveralRows
from dpsql.physical.engine_query import plan_release
from dpsql.physical.way import Server, choose_way
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.operator import Plan, Release, Scan
from dpsql.plan.prune_columns import unused
from dpsql.plan.traversal import operators
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.release.calibration import Measurement, calibrate, exact_measurement
from dpsql.release.columns.value_errors import has_value_errors
from dpsql.release.job import Step
from dpsql.release.synopsis.mwem import calibrate_mwem, synopsis_notes
from dpsql.schema.load.column_types import engine_source
from dpsql.schema.model import Schema, Table
from dpsql.schema.source_location import ServerSource
from dpsql.session.answer.consistent_totals import Consistency, consistency
from dpsql.session.compile.column_provenance import TaggedUnion, tagged_union
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.request import ANSWER, AnswerRequest, Request, SynopsisRequest
from dpsql.session.compile.row_numbers import NumberedRows, numbered_rows
from dpsql.session.digest.canonical_digest import release_digest
from dpsql.session.digest.codec import digested
from dpsql.session.explain.plan_visibility import Opaque, opaque
from dpsql.session.options import DEFAULT_OPTIONS, QueryOptions


@dataclass(frozen=True, slots=True)
class CompiledStatement:
    """A statement that is ready to be charged and run; no private row was read for it.

    Its rows are told apart if they are `tagged_union`, and have numbers if they are `numbered`. The
    releases' keys are those of answers for `version` of the data. `consistency` are made to add up
    before `postprocessing_sql`.
    `saved_tables` are the tables that analysts keep and that are read, wherever in the plan.
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
    consistency: Consistency = field(compare=False)
    saved_tables: tuple[Table, ...]

    @property
    def postprocessing_sql(self) -> str:
        """The SQL that makes the answer of the released tables."""
        plan = self.plan if self.tagged_union is None else self.tagged_union.plan
        return rendered(emit_plan(plan, {r.release: r.name for r in self.releases}))

    @property
    def finishing_sql(self) -> str:
        """The same SQL, with the numbers that errors row by row need."""
        if self.numbered is None:
            return self.postprocessing_sql
        names = {r.release: r.name for r in self.releases}
        names |= {new: names[old] for new, old in self.numbered.releases.items()}
        return rendered(emit_plan(self.numbered.plan, names))

    def finishing_tables(self, released: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """The released tables, by name, as `finishing_sql` reads them."""
        if self.numbered is None:
            return dict(released)
        own = {r.name: released[r.name] for r in self.releases}
        return {**released, **self.numbered.tables(own)}

    @property
    def loss(self) -> PrivacyLoss | None:
        """What all releases cost together, None if nothing private is read."""
        losses = [release.step.measurement.loss for release in self.releases]
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
    return compile_bound(statement, sql, schema, facts, query_loss, version, ANSWER, options)


def compile_bound(
    statement: Statement,
    sql: str,
    schema: Schema,
    facts: Facts,
    query_loss: PrivacyLoss,
    version: str,
    request: Request,
    options: QueryOptions,
) -> CompiledStatement:
    """The same of `sql` as it was bound for `request`."""
    if isinstance(request, SynopsisRequest):
        drawn = replace(options.answer, consistent=False)
        options = replace(options, release=ALL_GROUPS, answer=drawn)
    _check_single(statement, facts)
    plan = unused(statement.plan)
    releases = tuple(dict.fromkeys(p for p in operators(plan) if isinstance(p, Release)))
    share = PrivacyLoss(
        query_loss.accounting,
        query_loss.amount / max(1, len(releases)),
        query_loss.delta / max(1, len(releases)),
    )
    names = {release: f"release_{number}" for number, release in enumerate(releases)}
    server = _server(schema)
    compiler = _ReleaseCompiler(schema, facts, share, version, request, options, names, server)
    compiled: dict[str, CompiledRelease] = {}
    for release in releases:
        hidden = opaque(release, plan)
        with _error_position(sql, request), _hidden_note(hidden):
            one = compiler.compile(release, compiled)
            compiled[names[release]] = replace(one, opaque=hidden)
    all_compiled = tuple(compiled.values())
    tagged = tagged_union(plan)
    return CompiledStatement(
        statement,
        plan,
        all_compiled,
        query_loss,
        version,
        request,
        options,
        tagged,
        _numbered(plan, tagged, all_compiled),
        consistency(all_compiled, options.answer),
        saved_tables(plan),
    )


def _server(schema: Schema) -> Server | None:
    """The source's server, if it has one, and what that computes."""
    source = schema.source
    # A description of the source lists all tables: it isn't made of files for every statement.
    computes = supported(engine_source(schema)) if isinstance(source, ServerSource) else None
    if not isinstance(source, ServerSource) or computes is None:
        return None
    return Server(computes, source.push_down)


def _numbered(
    plan: Plan, tagged: TaggedUnion | None, releases: Sequence[CompiledRelease]
) -> NumberedRows | None:
    """`plan` with numbers of rows, where a released column has errors row by row."""
    has_errors = any(
        has_value_errors(output)
        for release in releases
        if release.opaque is None and release.step.measurement.mwem is None
        for output in release.step.bounded.outputs
    )
    return numbered_rows(plan if tagged is None else tagged.plan) if has_errors else None


def _check_single(statement: Statement, facts: Facts) -> None:
    """Refuse to take the first of several public rows for the only one."""
    for one in statement.single:
        counted = facts.rows(one.count, 1)
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
    """What has no synopsis is the whole query."""
    try:
        yield
    except Error as error:
        if isinstance(request, SynopsisRequest):
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


def saved_tables(plan: Plan) -> tuple[Table, ...]:
    """The tables that analysts keep and that `plan` reads, each once."""
    scans = (part for part in operators(plan) if isinstance(part, Scan))
    tables = {s.table.engine_name: s.table for s in scans if s.table.saved_entry is not None}
    return tuple(tables.values())


@dataclass(frozen=True, slots=True)
class _ReleaseCompiler:
    """Compiles the releases of one statement, which `names` says; each may lose `share`."""

    schema: Schema
    facts: Facts
    share: PrivacyLoss
    version: str
    request: Request
    options: QueryOptions
    names: Mapping[Release, str]
    server: Server | None

    def compile(self, release: Release, earlier: Mapping[str, CompiledRelease]) -> CompiledRelease:
        """`release` bounded, calibrated and planned; it may read the `earlier` ones, by name."""
        bounded = bound_release(
            release,
            self.facts,
            self.options.limits,
            self.options.release,
            is_synopsis=isinstance(self.request, SynopsisRequest),
        )
        changes = sensitivity(bounded, self.schema.neighbor_distance)
        bounded, measurement = self._calibrated(bounded, changes)
        planned = plan_release(bounded, self.facts, self.names)
        below = tuple(p for p in operators(release.source) if isinstance(p, Release))
        reads = [self.names[other] for other in dict.fromkeys(below)]
        reads += [table.engine_name for table in saved_tables(release.source)]
        name = self.names[release]
        ways = None if self.server is None else choose_way(planned.choice, self.server)
        step = Step(
            name,
            bounded,
            planned.query,
            measurement,
            tuple(reads),
            planned.batches,
            planned.without_sidecar,
            None if ways is None else ways.pushed,
        )
        keys = {other: earlier[self.names[other]].key for other in below}
        digests = release_digest(bounded, keys), digested(measurement)
        key = digest_of("key of an answer", *digests, self.schema.policy_hash, self.version)
        return CompiledRelease(release, name, step, changes, key, planned.choice, ways=ways)

    def _calibrated(
        self, bounded: BoundedRelease, changes: Sensitivity
    ) -> tuple[BoundedRelease, Measurement]:
        """`bounded` with notes on its noise, and what is measured of it for `share`."""
        distance = self.schema.neighbor_distance
        match self.request:
            case AnswerRequest():
                randomized = local_only(bounded, distance)
                if randomized is None:
                    return bounded, calibrate(bounded, changes, self.share)
                names = ", ".join(column.name for column in randomized.columns)
                table = randomized.table.display_name
                note = f"no noise: of {table} randomised answers alone are read ({names})"
                measurement = exact_measurement(bounded, self.share.accounting)
                return replace(bounded, notes=(*bounded.notes, note)), measurement
            case SynopsisRequest(rounds=rounds):
                measurement = calibrate_mwem(bounded, distance.steps, self.share, rounds)
                notes = synopsis_notes(bounded, measurement)
                return replace(bounded, notes=(*bounded.notes, *notes)), measurement
            case missing:
                assert_never(missing)
