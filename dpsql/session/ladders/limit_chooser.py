"""Chooses the limits of each of a statement's releases, where a table's limits are calibrated."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.bounding.key_domain import key_domains, limit_cells
from dpsql.bounding.options import ContributionLimits
from dpsql.bounding.public_facts import Facts
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.session.ladders.limit_choice import LimitChoice, ReleaseLimits
from dpsql.session.ladders.query_noise import QueryNoise
from dpsql.session.ladders.release_ladders import ReleaseLadders
from dpsql.session.ladders.stored_ladders import StoredLadders


class LimitChooser(Struct, frozen=True):
    """Chooses the limits of a statement's releases, each of which may spend `loss`."""

    schema: Schema
    facts: Facts
    ladders: Sequence[StoredLadders]
    loss: PrivacyLoss

    def choice(
        self,
        release: Release,
        requested: ContributionLimits,
        *,
        is_table: bool,
        by_key: bool = True,
    ) -> LimitChoice:
        """The limits of one release, no looser than what is `requested`.

        `by_key`: sums may have caps of each group by its key.
        """
        scans = private_scans(release.source)
        if not any(scan.table.limits.calibrated for scan in scans):
            return LimitChoice(requested, ())
        below = column_domains(release.source)
        listed = key_domains(release.keys, release.source, release.key_source, below, self.facts)
        terms = Contributions(release.source, release.keys, limit_cells(listed), ())
        if not highest_fanout_table(terms).limits.calibrated:
            return LimitChoice(requested, ())
        reads = any(isinstance(part, Release) for part in operators(release.source))
        known = () if is_table or reads else self.ladders
        ladders = ReleaseLadders(release, terms, known)
        distance = self.schema.neighbor_distance
        noise = QueryNoise(self.loss, distance, ladders.statistics, ladders.cells)
        return ReleaseLimits(ladders, noise, requested, by_key=by_key).chosen()
