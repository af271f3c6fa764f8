"""Our conversion beside dp-accounting: Rényi divergences at many orders, loss distributions."""

from __future__ import annotations

import math
from fractions import Fraction

import dp_accounting
import numpy as np
import pytest
from dp_accounting import pld, rdp
from literature.gaussian import epsilon_of

from dpsql.privacy.accounting.zcdp_conversion import epsilon_of_rho
from dpsql.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpsql.privacy.mechanisms.selection.exponential import Exponential
from dpsql.privacy.mechanisms.selection.permute_and_flip import rho_of_pure

ADD_OR_REMOVE = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
MILLIONTH = Fraction(1, 10**6)


def by_renyi(
    event: dp_accounting.DpEvent,
    count: int,
    delta: float,
    relation: dp_accounting.NeighboringRelation = ADD_OR_REMOVE,
) -> float:
    orders = [1 + float(step) for step in np.geomspace(1e-3, 1e4, 2000)]
    accountant = rdp.RdpAccountant(orders, relation)
    accountant.compose(event, count)
    return float(accountant.get_epsilon(delta))


def by_loss_distribution(event: dp_accounting.DpEvent, count: int, delta: float) -> float:
    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(event, count)
    return float(accountant.get_epsilon(delta))


@pytest.mark.parametrize("sigma", [2, 10, 50])
@pytest.mark.parametrize("count", [1, 100])
def test_gaussian_noise_converts_as_renyi_accounting_does(sigma: int, count: int) -> None:
    # For Gaussian noise zCDP is all that Rényi divergences know, so only their grid is between.
    rho = count * DiscreteGaussian(Fraction(sigma**2)).rho(l2_squared=1)
    ours = float(epsilon_of_rho(rho, MILLIONTH))
    theirs = by_renyi(dp_accounting.GaussianDpEvent(sigma), count, 1e-6)
    assert ours == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize("sigma", [2, 10, 50])
@pytest.mark.parametrize("count", [1, 100])
def test_no_gaussian_loss_is_below_its_loss_distribution(sigma: int, count: int) -> None:
    rho = count * DiscreteGaussian(Fraction(sigma**2)).rho(l2_squared=1)
    ours = float(epsilon_of_rho(rho, MILLIONTH))
    theirs = by_loss_distribution(dp_accounting.GaussianDpEvent(sigma), count, 1e-6)
    assert theirs == pytest.approx(epsilon_of(math.sqrt(count) / sigma, 1e-6), rel=1e-2)
    assert theirs <= ours <= theirs * 1.2


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
@pytest.mark.parametrize("count", [100, 1000])
def test_no_pure_loss_is_below_its_renyi_accounting(epsilon: Fraction, count: int) -> None:
    # Randomised response is the worst of all pure mechanisms.
    worst = dp_accounting.RandomizedResponseDpEvent(2 / (1 + math.exp(float(epsilon))), 2)
    ours = float(epsilon_of_rho(count * rho_of_pure(epsilon), MILLIONTH))
    theirs = by_renyi(worst, count, 1e-6, dp_accounting.NeighboringRelation.REPLACE_ONE)
    assert theirs <= ours * (1 + 1e-9)
    assert ours <= theirs * 1.2


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
@pytest.mark.parametrize("count", [100, 1000])
def test_no_laplace_loss_is_below_its_renyi_accounting(epsilon: Fraction, count: int) -> None:
    # A thousand steps of the grid are nearly the continuous law.
    mechanism = DiscreteLaplace(1000 / epsilon)
    ours = float(epsilon_of_rho(count * mechanism.rho(1000), MILLIONTH))
    theirs = by_renyi(dp_accounting.LaplaceDpEvent(1 / float(epsilon)), count, 1e-6)
    assert theirs <= ours * (1 + 1e-9)
    assert ours <= theirs * 1.2


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
def test_choices_convert_as_renyi_accounting_does(epsilon: Fraction) -> None:
    rho = 100 * Exponential(epsilon, spread=1).rho()
    theirs = by_renyi(dp_accounting.ZCDpEvent(float(rho)), 1, 1e-6)
    assert float(epsilon_of_rho(rho, MILLIONTH)) == pytest.approx(theirs, rel=1e-4)
