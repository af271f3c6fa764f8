"""People who answer by randomised response, and what is estimated of all that they say."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.randomized_response import RandomizedResponse
from dpsql.privacy.mechanisms.randomness import Randomness, words


def of_truth(probability: Fraction, categories: int = 2) -> RandomizedResponse:
    """The one that tells the truth with this probability."""
    lie = (1 - probability) / (categories - 1)
    ratio = probability / lie
    return RandomizedResponse(ratio.numerator, ratio.denominator, categories)


def respond(
    mechanism: RandomizedResponse, answers: NDArray[np.int64], randomness: Randomness
) -> NDArray[np.int64]:
    """What is said for each answer, from 0 to categories - 1; exactly with p and q."""
    # The others are numbered from the answer on: 1 is the next one, and so on around.
    every = mechanism.truth + (mechanism.categories - 1) * mechanism.lie
    drawn = _below(every, answers.size, randomness)
    others = np.where(drawn < mechanism.truth, 0, (drawn - mechanism.truth) // mechanism.lie + 1)
    said: NDArray[np.int64] = (answers + others.reshape(answers.shape)) % mechanism.categories
    return said


def estimates(mechanism: RandomizedResponse, said: Sequence[int]) -> list[Fraction]:
    """How often each answer is truly given, unbiased."""
    return [mechanism.estimate(count, sum(said)) for count in said]


def _below(limit: int, count: int, randomness: Randomness) -> NDArray[np.int64]:
    """Return uniform integers from 0 to limit - 1: words below a multiple of it, modulo it."""
    multiple = 2**64 // limit * limit
    parts = [np.empty(0, dtype=np.uint64)]
    missing = count
    while missing:
        drawn = words(randomness, missing, 64)
        parts.append(drawn[drawn <= np.uint64(multiple - 1)])
        missing -= parts[-1].size
    return (np.concatenate(parts) % np.uint64(limit)).astype(np.int64)
