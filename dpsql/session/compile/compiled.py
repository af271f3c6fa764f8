"""A statement bound, bounded, emitted and calibrated: everything but the run and its charge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from dpsql.analysis.local_privacy import local_only
from dpsql.analysis.sensitivity import Sensitivity, sensitivity
from dpsql.bind.saved_release import NO_RELEASES, SavedReleaseNames
from dpsql.bind.statement import NO_PARAMETERS, Statement, bind
from dpsql.bind.statements.create_synopsis import bind_synopsis, query_span
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bounding.bound_release import bound_release
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.settings import AS_DECLARED, Settings
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.engine.digest import digest_of
from dpsql.errors import Error, SeveralRows
from dpsql.physical.choose import Choice
from dpsql.physical.engine_query import plan_release
from dpsql.plan.expression import Column
from dpsql.plan.operator import Plan, Release, Scan
from dpsql.plan.prune_columns import unused
from dpsql.plan.traversal import operators
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.release.calibration import calibrate, exact_measurement
from dpsql.release.columns.released_table import auxiliary_statistics
from dpsql.release.job import Step
from dpsql.release.synopsis.mwem import calibrate_mwem, synopsis_notes
from dpsql.schema.model import Schema, Table
from dpsql.session.answer.consistent_totals import Consistency, consistency
from dpsql.session.compile.column_provenance import TaggedUnion, tagged_union
from dpsql.session.digest.canonical_digest import release_digest
from dpsql.session.digest.codec import digested
from dpsql.session.explain.plan_visibility import Opaque, opaque

Read = Callable[[str, Schema, Parameters, SavedReleaseNames], Statement]


@dataclass(frozen=True, slots=True)
class CompiledRelease:
    """One release of a statement: `key` identifies its noisy answer in the release store.

    A release that reads others is drawn on their noisy rows, so their keys are part of its.
    """

    release: Release
    name: str
    step: Step
    sensitivity: Sensitivity
    key: str
    choice: Choice
    opaque: Opaque | None = None

    def display_name(self, column: Column) -> str:
        """What analysts are told a column of it is called."""
        return column.name if self.opaque is None else self.opaque.name(column)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its table here; other statements that share the answer name them anew."""
        bounded = self.step.bounded
        made = [key.column for key in bounded.contributions.keys]
        made += [output.column for output in bounded.outputs]
        shown = [f"c{column.id}" for column in made]
        return (*shown, *(f"s{place}" for place in auxiliary_statistics(bounded)))


@dataclass(frozen=True, slots=True)
class CompiledStatement:
    """A statement that is ready to be charged and run; no private row was read for it.

    Its rows are told apart if they are `tagged_union`. The releases' keys are those of answers for
    `version` of the data. `consistency` are made to add up before `postprocessing_sql`.
    `saved_tables` are the tables that analysts keep and that are read, wherever in the plan.
    """

    statement: Statement
    plan: Plan
    releases: tuple[CompiledRelease, ...]
    query_loss: PrivacyLoss
    version: str
    settings: Settings
    tagged_union: TaggedUnion | None
    consistency: Consistency = field(compare=False)
    saved_tables: tuple[Table, ...]

    @property
    def postprocessing_sql(self) -> str:
        """The SQL that makes the answer of the released tables."""
        plan = self.plan if self.tagged_union is None else self.tagged_union.plan
        return rendered(emit_plan(plan, {r.release: r.name for r in self.releases}))

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
    settings: Settings = AS_DECLARED,
    releases: SavedReleaseNames = NO_RELEASES,
) -> CompiledStatement:
    """Everything that SQL, schema and public facts decide; `version` names that of the data."""
    read = bind if settings.rounds is None else bind_synopsis
    statement = read(sql, schema, parameters, releases)
    return compile_bound(statement, sql, schema, facts, query_loss, version, settings)


def compile_bound(
    statement: Statement,
    sql: str,
    schema: Schema,
    facts: Facts,
    query_loss: PrivacyLoss,
    version: str,
    settings: Settings,
) -> CompiledStatement:
    """The same of `sql` as it was bound; as a synopsis, if it is one's `settings`."""
    if settings.rounds is not None:
        settings = replace(settings, min_units=None, nonnegative=False, consistent=False)
    _check_single(statement, facts)
    plan = unused(statement.plan)
    found = tuple(dict.fromkeys(p for p in operators(plan) if isinstance(p, Release)))
    share = PrivacyLoss(
        query_loss.accounting,
        query_loss.amount / max(1, len(found)),
        query_loss.delta / max(1, len(found)),
    )
    names = {release: f"release_{number}" for number, release in enumerate(found)}
    prepared: dict[str, CompiledRelease] = {}
    for release in found:
        hidden = opaque(release, plan)
        with _placed(sql, settings), _hidden_note(hidden):
            ready = _compile_release(
                release, names, prepared, schema, facts, share, version, settings
            )
            prepared[names[release]] = replace(ready, opaque=hidden)
    all_ready = tuple(prepared.values())
    made = consistency(all_ready, settings)
    kept = saved_tables(plan)
    return CompiledStatement(
        statement, plan, all_ready, query_loss, version, settings, tagged_union(plan), made, kept
    )


def _check_single(statement: Statement, facts: Facts) -> None:
    """Refuse to take the first of several public rows for the only one."""
    for one in statement.single:
        found = facts.rows(one.count, 1)
        number = found[0][0] if found else None
        if not isinstance(number, int) or number > 1:
            raise SeveralRows(
                "a scalar subquery has several rows",
                at=one.at,
                hint="aggregate in it: (SELECT max(…) FROM …), or write x IN (SELECT …)",
                note="subqueries",
            )


@contextmanager
def _placed(sql: str, settings: Settings) -> Iterator[None]:
    """What has no synopsis is the whole query."""
    try:
        yield
    except Error as error:
        if settings.rounds is not None:
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
    found = {s.table.engine_name: s.table for s in scans if s.table.saved_entry is not None}
    return tuple(found.values())


def _compile_release(
    release: Release,
    names: Mapping[Release, str],
    earlier: Mapping[str, CompiledRelease],
    schema: Schema,
    facts: Facts,
    share: PrivacyLoss,
    version: str,
    settings: Settings,
) -> CompiledRelease:
    bounded = bound_release(release, facts, settings)
    found = sensitivity(bounded, schema.neighbor_distance)
    alone = local_only(bounded, schema.neighbor_distance)
    if settings.rounds is None and alone is not None:
        measurement = exact_measurement(bounded, share.accounting)
        names_of = ", ".join(column.name for column in alone.columns)
        table = alone.table.display_name
        note = f"no noise: of {table} randomised answers alone are read ({names_of})"
        bounded = replace(bounded, notes=(*bounded.notes, note))
    elif settings.rounds is None:
        measurement = calibrate(bounded, found, share)
    else:
        measurement = calibrate_mwem(
            bounded, schema.neighbor_distance.steps, share, settings.rounds
        )
        bounded = replace(bounded, notes=(*bounded.notes, *synopsis_notes(bounded, measurement)))
    planned = plan_release(bounded, facts, names)
    below = tuple(p for p in operators(release.source) if isinstance(p, Release))
    reads = [names[other] for other in dict.fromkeys(below)]
    reads += [table.engine_name for table in saved_tables(release.source)]
    step = Step(
        names[release],
        bounded,
        planned.query,
        measurement,
        tuple(reads),
        planned.batches,
        planned.without_sidecar,
    )
    keys = {other: earlier[names[other]].key for other in below}
    parts = (release_digest(bounded, keys), digested(measurement), schema.policy_hash, version)
    key = digest_of("key of an answer", *parts)
    return CompiledRelease(release, names[release], step, found, key, planned.choice)
