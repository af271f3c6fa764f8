"""The tags of mechanisms and of what they lose, which `tags` has with all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.allocation import mwem_calibration
from dpsql.privacy.mechanisms import residual_gaussian
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedGaussian, CorrelatedNoise
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.k_norm import KNorm, KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.one_direction import OneDirection, OneDirectionNoise
from dpsql.privacy.mechanisms.selection import above_threshold, threshold_stream, weighted_majority
from dpsql.privacy.mechanisms.selection.exponential import Exponential
from dpsql.privacy.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dpsql.privacy.mechanisms.selection.quantile import Quantiles
from dpsql.release.calibration import Measurement
from dpsql.release.exact_answers import NoNoise
from dpsql.release.selection_mechanism import (
    CountedTopMechanism,
    ModeMechanism,
    ScoreMechanism,
    TopMechanism,
)
from dpsql.session.digest.tag import Tagged

MECHANISMS: Final[Mapping[type, Tagged]] = {
    Measurement: Tagged(
        "measurement", ("mechanisms", "threshold", "loss", "choosers", "table_mechanism")
    ),
    PrivacyLoss: Tagged("loss", ("accounting", "amount", "delta")),
    DiscreteLaplace: Tagged("laplace noise", ("scale",)),
    DiscreteGaussian: Tagged("gaussian noise", ("variance",)),
    RoundedGaussian: Tagged("rounded gaussian noise", ("normal_variance",)),
    KNorm: Tagged("k-norm", ("epsilon", "moves", "cells", "levels")),
    KNormNoise: Tagged("k-norm noise", ("law", "index")),
    OneDirection: Tagged("one direction", ("epsilon", "moves", "cells", "levels")),
    OneDirectionNoise: Tagged("one direction noise", ("law", "index")),
    CorrelatedGaussian: Tagged(
        "correlated",
        ("variances", "shared", "centers", "cells"),
        {"is_rounded": "it is so in gdp, which the measurement's loss says"},
    ),
    CorrelatedNoise: Tagged("correlated noise", ("law", "index")),
    RoundedNoise: Tagged("rounded noise", ("fine", "parts")),
    NoNoise: Tagged("as said"),
    Exponential: Tagged("exponential", ("epsilon", "spread")),
    PermuteAndFlip: Tagged("permute and flip", ("epsilon", "spread")),
    ModeMechanism: Tagged("frequent", ("mechanism", "groups")),
    TopMechanism: Tagged("several frequent", ("mechanism", "count", "groups")),
    CountedTopMechanism: Tagged("several frequent, counted", ("top", "noise")),
    ScoreMechanism: Tagged(
        "of scores", ("mechanism", "groups"), {"scores": "they are in the release's choice"}
    ),
    Quantiles: Tagged("quantiles", ("quantiles", "epsilon", "rows", "accounting", "slices")),
    mwem_calibration.MwemParameters: Tagged(
        "annealed weighing",
        ("parts", "sensitivity", "total", "part"),
        {"sums": "they follow of limits, and the measurement's mechanisms have each one's noise"},
    ),
    residual_gaussian.MarginalNoise: Tagged("marginals", ("statistics",)),
    residual_gaussian.ResidualGaussian: Tagged(
        "residuals",
        ("shape", "residuals"),
        {"is_rounded": "it is so in gdp, which the measurement's loss says"},
    ),
    residual_gaussian.Residual: Tagged("residual", ("axes", "variance")),
    weighted_majority.WeightedMajority: Tagged("majority", ("rate", "width", "moves")),
    weighted_majority.LossMoves: Tagged("apart", ("rounds", "per_round", "in_all")),
    above_threshold.AboveThreshold: Tagged(
        "above", ("threshold_rate", "query_rate", "firings", "moves", "offset")
    ),
    threshold_stream.ThresholdStream: Tagged(
        "above over time",
        ("mechanism", "checks"),
        {"raised": "it is drawn for an alert that is kept, after it was compiled"},
    ),
    above_threshold.ThresholdMoves: Tagged("threshold moves", ("reach", "span")),
    mwem_calibration.HistogramSensitivity: Tagged("moves", ("groups", "per_cell", "in_all")),
}
