"""Ranks that a sidecar stores choose a unit's groups, by every strategy, and by none without it."""

from __future__ import annotations

from neighbor_search.sidecar import has_stored_ranks, private, proved

from dpsql.analysis.plan_text import plan_text
from dpsql.bounding.options import AS_DECLARED
from dpsql.plan.bounded_release.bounded_release import ByRank, ByStoredRank, LimitGroups
from dpsql.session.compile.compiled import CompiledRelease

SQL = "SELECT doctor_id, count(*) FROM visits GROUP BY 1"


def release(*, ready: bool = True) -> CompiledRelease:
    (found,) = proved(SQL, "clinic", private("clinic"), AS_DECLARED, ready=ready).releases
    return found


def test_a_plan_says_that_ranks_are_stored() -> None:
    assert has_stored_ranks(release())
    assert "by stored rank" in plan_text(release().step.bounded, 1)
    assert not has_stored_ranks(release(ready=False))


def test_a_sidecar_doesnt_change_the_key_of_an_answer() -> None:
    assert release().key == release(ready=False).key


def test_without_its_sidecar_a_release_chooses_as_it_would_have() -> None:
    limited = release().step.bounded.limited
    assert isinstance(limited, LimitGroups)
    assert isinstance(limited.limit, ByStoredRank)
    assert isinstance(limited.limit.without_sidecar, ByRank)
    fallback = release().step.without_sidecar
    assert fallback is not None
    assert fallback.tables == {"visits"}
    assert fallback.query == release(ready=False).step.query


def test_every_strategy_reads_the_groups_that_ranks_chose() -> None:
    names = [candidate.name for candidate in release().choice.candidates]
    assert names == ["SplitByContribution", "PerUnit"]
