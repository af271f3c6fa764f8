"""Each release of a statement: bounded, calibrated for its share of the loss, and planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec import Struct

from dpsql.analysis.local_privacy import local_only
from dpsql.analysis.sensitivity import Sensitivity, sensitivity
from dpsql.bounding.bound_release import bound_release
from dpsql.bounding.options import ContributionLimits
from dpsql.bounding.public_facts import Facts
from dpsql.engine.digest import Digest
from dpsql.errors import Refused
from dpsql.physical.choose import choose_on_server
from dpsql.physical.engine_query import plan_release
from dpsql.physical.way import Prepared, Server, choose_way
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, ByNorm, LimitGroups
from dpsql.plan.chart import Chart
from dpsql.plan.operator import Filter, Limit, Plan, Project, Release, Scan, Sort
from dpsql.plan.traversal import operators
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.over_groups import OverGroups
from dpsql.release.alert import calibrate_alert, named_conditions
from dpsql.release.calibration import Measurement, calibrate, exact_measurement
from dpsql.release.dashboard.calibrate_dashboard import calibrate_dashboard, dashboard_notes
from dpsql.release.decision import calibrate_decision, experts_of
from dpsql.release.job import Step
from dpsql.release.joint_noise import joint_notes
from dpsql.release.synopsis.calibrate_synopsis import calibrate_synopsis, synopsis_notes
from dpsql.release.top_keys.top_counts import calibrate_top_counts, counts_chosen
from dpsql.schema.model import Schema, Table
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.proofs.release_proofs import PlannedProof, ReleaseProofs
from dpsql.session.compile.request import (
    AlertRequest,
    AnswerRequest,
    DashboardRequest,
    Request,
    SynopsisRequest,
    TableRequest,
    kind_of,
)
from dpsql.session.digest.answer_identity import AnswerIdentity, releases_read
from dpsql.session.digest.canonical_digest import digest_of_pairs, release_digest
from dpsql.session.digest.codec import digested
from dpsql.session.ladders.key_cap_choice import has_one_cap
from dpsql.session.ladders.limit_choice import LimitChoice
from dpsql.session.ladders.limit_chooser import LimitChooser
from dpsql.session.options import QueryOptions
from dpsql.structs import replace


def saved_tables(plan: Plan) -> tuple[Table, ...]:
    """The tables that analysts keep and that `plan` reads, each once."""
    scans = (part for part in operators(plan) if isinstance(part, Scan))
    tables = {s.table.engine_name: s.table for s in scans if s.table.saved_entry is not None}
    return tuple(tables.values())


def is_shown_by_row(plan: Plan) -> bool:
    """Whether `plan` shows the groups of one release, and computes nothing of several of them."""
    match plan:
        case Release():
            return not any(isinstance(part, Release) for part in operators(plan.source))
        case (
            Project(source=below) | Filter(source=below) | Sort(source=below) | Limit(source=below)
        ):
            return is_shown_by_row(below)
        case _:
            return False


def is_drawn_whole(bounded: BoundedRelease) -> bool:
    """Whether one mechanism makes all of its table, whatever hides its rows already."""
    return experts_of(bounded) is not None or named_conditions(bounded) is not None


class ReleaseCompiler(Struct, frozen=True):
    """Compiles the releases of one statement, which `names` says.

    `is_shown_by_row`: there is one, and what is shown are its groups, each by itself. `charts` are
    those of a dashboard.
    """

    schema: Schema
    facts: Facts
    version: str
    request: Request
    options: QueryOptions
    names: Mapping[Release, str]
    server: Server | None
    chooser: LimitChooser
    proofs: ReleaseProofs
    is_shown_by_row: bool = False
    charts: tuple[Chart, ...] = ()

    def bounded(self, release: Release) -> tuple[BoundedRelease, LimitChoice]:
        """`release` with the limits on what a unit contributes, and how they were chosen."""
        is_table = isinstance(self.request, TableRequest)
        table_kind = kind_of(self.request) if is_table else None
        # The noise of a synopsis is for a unit's rows in all cells, in however many these are.
        by_rows = isinstance(self.request, SynopsisRequest)

        def under(
            limits: ContributionLimits, *, by_key: bool = True
        ) -> tuple[BoundedRelease, LimitChoice]:
            limits = replace(limits, groups_by_rows=by_rows)
            # What is divided by a factor of its own doesn't add up.
            may_differ = by_key and not self.options.answer.consistent
            choice = self.chooser.choice(release, limits, is_table=is_table, by_key=may_differ)
            bounded = self._bounded(release, choice.limits, table_kind)
            if choice.notes:
                bounded = replace(bounded, notes=(*bounded.notes, *choice.notes))
            return bounded, choice

        bounded, choice = under(self.options.limits)
        if choice.notes and choice.limits.over_groups is OverGroups.SCALE:
            limited = bounded.limited
            if not isinstance(limited, LimitGroups) or not isinstance(limited.limit, ByNorm):
                # What was chosen for units that are scaled isn't best, nor as told, of drawn ones.
                return under(self.options.limits.sampled())
        if has_one_cap(release, bounded, choice.limits.sums):
            # Some sum can't have caps by key, and what was told of them isn't true of one cap.
            return under(self.options.limits, by_key=False)
        return bounded, choice

    def _bounded(
        self, release: Release, limits: ContributionLimits, table_kind: str | None
    ) -> BoundedRelease:
        """`release` within `limits`, which follows from these, the schema and the data's facts."""
        sample, shown = self.schema.budget.sample, self.options.release

        def bound() -> BoundedRelease:
            return bound_release(
                release,
                self.facts,
                limits,
                shown,
                table_kind=table_kind,
                sampling=None if sample is None else sample.law,
            )

        if self._saved_tables(release):
            return bound()
        return self.proofs.bounded((release, limits, shown, table_kind), bound)

    def _planned(self, release: Release, bounded: BoundedRelease) -> PlannedProof:
        """How much neighbours change the integers of `bounded`, and how these are computed."""

        def plan() -> PlannedProof:
            changes = sensitivity(bounded, self.schema.neighbor_distance)
            return PlannedProof(bounded, changes, plan_release(bounded, self.facts, self.names))

        if self._saved_tables(release):
            return plan()
        # Another statement may call the tables that it reads otherwise.
        read = tuple(self.names[other] for other in self._reads(release))
        return self.proofs.planned(bounded, read, plan)

    def charged_count(self, bounded: Mapping[Release, BoundedRelease]) -> int:
        """How many of a statement's releases are drawn with noise, and charged; at least one.

        Two that ask for the same are one answer, and what is shown without noise costs nothing: a
        share of the loss for either would be lost.
        """
        if len(bounded) < 2:
            return 1
        contents: dict[Release, str] = {}
        for release, one in bounded.items():
            below = self._reads(release)
            contents[release] = self._meaning(one, {other: contents[other] for other in below})
        distance = self.schema.neighbor_distance
        has_noise = isinstance(self.request, TableRequest)
        noisy = {
            contents[release]
            for release, one in bounded.items()
            if has_noise or is_drawn_whole(one) or local_only(one, distance) is None
        }
        return max(1, len(noisy))

    def compile(
        self,
        release: Release,
        bounded: BoundedRelease,
        share: PrivacyLoss,
        earlier: Mapping[str, CompiledRelease],
    ) -> CompiledRelease:
        """`release`, calibrated for `share` and planned; it may read the `earlier` ones."""
        proof = self._planned(release, bounded)
        changes, planned = proof.changes, proof.planned
        bounded, measurement = self._calibrated(bounded, changes, share)
        below = self._reads(release)
        reads = [self.names[other] for other in below]
        reads += [table.engine_name for table in self._saved_tables(release.source)]
        name = self.names[release]
        ways = None
        if self.server is not None:
            ways = choose_way(planned.choice, self.server, self._prepared(bounded))
        step = Step(
            name,
            bounded,
            planned.query,
            measurement,
            tuple(reads),
            planned.batches,
            planned.without_sidecar,
            None if ways is None else ways.pushed,
            cached_sums=planned.cached_sums,
            unlimited=planned.unlimited,
        )
        keys = {other: earlier[self.names[other]].key for other in below}
        # Keys of answers at this ε alone are no key to remember their meaning by.
        meaning = release_digest(bounded, keys) if keys else self._meaning(proof.bounded, keys)
        policy = self.schema.policy_hash
        identity = AnswerIdentity(meaning, digested(measurement), policy, self.version)
        return CompiledRelease(release, name, step, changes, identity, planned.choice, ways=ways)

    def _saved_tables(self, plan: Plan) -> tuple[Table, ...]:
        return self.proofs.derived(plan, saved_tables)

    def _reads(self, release: Release) -> tuple[Release, ...]:
        return self.proofs.derived(release, releases_read)

    def _meaning(self, bounded: BoundedRelease, keys: Mapping[Release, str]) -> Digest:
        """What `bounded` asks for, where it reads the answers of these `keys`."""
        return self.proofs.derived(bounded, digest_of_pairs, tuple(keys.items()))

    def _prepared(self, bounded: BoundedRelease) -> Prepared | None:
        """The ways over what the owner prepared on the server; None if there is nothing of it."""
        sidecar = self.facts.server_sidecar()
        if sidecar is None:
            return None
        choice = choose_on_server(bounded.limited, self.facts, sidecar)
        return None if choice is None else Prepared(choice, sidecar)

    def _calibrated(
        self, bounded: BoundedRelease, changes: Sensitivity, share: PrivacyLoss
    ) -> tuple[BoundedRelease, Measurement]:
        """`bounded` with notes on its noise, and what is measured of it for `share`."""
        distance = self.schema.neighbor_distance
        match self.request:
            case AlertRequest(checks=checks):
                if named_conditions(bounded) is None:
                    raise Refused(
                        "an alert that is kept reads no other noisy answer",
                        hint="keep that by CREATE RELEASE, and read the kept one",
                        note="create_alert",
                    )
                measurement, notes = calibrate_alert(bounded, changes, share, checks)
                return replace(bounded, notes=(*bounded.notes, *notes)), measurement
            case AnswerRequest():
                if experts_of(bounded) is not None:
                    measurement, notes = calibrate_decision(bounded, changes, share)
                    return replace(bounded, notes=(*bounded.notes, *notes)), measurement
                if named_conditions(bounded) is not None:
                    measurement, notes = calibrate_alert(bounded, changes, share)
                    return replace(bounded, notes=(*bounded.notes, *notes)), measurement
                if counts_chosen(bounded):
                    measurement, notes = calibrate_top_counts(bounded, changes, distance, share)
                    return replace(bounded, notes=(*bounded.notes, *notes)), measurement
                randomized = local_only(bounded, distance)
                if randomized is None:
                    by_row = self.is_shown_by_row
                    measurement = calibrate(bounded, changes, share, is_shown_by_row=by_row)
                    notes = joint_notes(measurement.noise)
                    return replace(bounded, notes=(*bounded.notes, *notes)), measurement
                names = ", ".join(column.name for column in randomized.columns)
                table = randomized.table.display_name
                note = f"no noise: of {table} randomised answers alone are read ({names})"
                measurement = exact_measurement(bounded, share.accounting)
                return replace(bounded, notes=(*bounded.notes, note)), measurement
            case SynopsisRequest(rounds=rounds):
                measurement = calibrate_synopsis(bounded, distance.steps, share, rounds)
                notes = synopsis_notes(bounded, measurement)
                return replace(bounded, notes=(*bounded.notes, *notes)), measurement
            case DashboardRequest(queries=queries):
                measurement = calibrate_dashboard(
                    bounded, distance, share, self.charts, are_queries=queries > 1
                )
                notes = dashboard_notes(bounded, measurement, self.charts)
                return replace(bounded, notes=(*bounded.notes, *notes)), measurement
            case missing:
                assert_never(missing)
