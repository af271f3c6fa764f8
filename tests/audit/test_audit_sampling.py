"""Heights of men and women: the figures that sensitivity sampling is taught with."""

from __future__ import annotations

from statistics import NormalDist

import pytest
from cli.cli_run import runner

from dpsql.audit.empirical.sensitivity_sampling import WARNING, Mixture, plan, sample
from dpsql.errors import BadParameter

HEIGHTS = Mixture(NormalDist(178, 7), NormalDist(162, 6.5))


def test_the_expected_change_of_heights_is_12_cm() -> None:
    assert HEIGHTS.expected_change == pytest.approx(11.99392058837085, abs=1e-9)
    assert HEIGHTS.stdev == pytest.approx(10.470195795685962, abs=1e-9)


@pytest.mark.parametrize(
    ("deviations", "covered"),
    [(0, 0.5634770348812057), (1, 0.8658885256476128), (2, 0.9806284445465913)],
)
def test_a_typical_sensitivity_covers_few_pairs(deviations: int, covered: float) -> None:
    level = HEIGHTS.expected_change + deviations * HEIGHTS.stdev
    assert HEIGHTS.covered(level) == pytest.approx(covered, abs=1e-9)


def test_as_many_pairs_are_drawn_as_the_theorem_asks_for() -> None:
    found = plan(0.05)
    # The other branch of Lambert's W would say 1325.
    assert (found.pairs, found.rank) == (1305, 1305)
    assert found.rho == pytest.approx(0.004182869932698051, abs=1e-12)


def test_a_sample_lies_where_its_law_says() -> None:
    found = sample(plan(0.05), lambda r: abs(HEIGHTS.draw(r) - HEIGHTS.draw(r)), 1)
    assert 38 < found.sensitivity < 58
    assert abs(found.mean - HEIGHTS.expected_change) < 1.2


@pytest.mark.parametrize("gamma", [0.0, 1.0, -0.1])
def test_no_probability_is_refused(gamma: float) -> None:
    with pytest.raises(BadParameter):
        plan(gamma)


def test_the_command_says_what_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    found = runner(monkeypatch)("audit", "sampled-sensitivity")
    assert found.code == 0
    assert WARNING in " ".join(found.out.split())
    assert "11.99" in found.out
    assert "56.3 %" in found.out
    assert "1305" in found.out
