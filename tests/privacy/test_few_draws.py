"""Few draws, made one by one, are those that vectors make of the same bits, to the last of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy.seeded import ReplayedRandomness, SeededRandomness

from dpsql.privacy.mechanisms.noise.distribution import NoiseDistribution
from dpsql.privacy.mechanisms.noise.inverse_sampling import Inversion
from dpsql.privacy.mechanisms.noise.sampler import Sampler
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import FEW, HIGH_BITS, few_positions

SCALES = tuple(
    map(Fraction, ("1/40", "1/3", "7/5", "16.5", "40", "1000", "123456789", "1e12", "3e16"))
)
"""Those of one integer in each cell, of cells of few bits, and of 50."""

SAMPLERS = tuple(
    Sampler.of(law)
    for scale in SCALES
    for law in (NoiseDistribution.laplace(scale), NoiseDistribution.gaussian(scale**2))
)

BYTES = st.binary(max_size=80) | st.lists(
    st.sampled_from([b"\0", b"\xff", b"\x7f", b"\x80", b"\x01", b"\xfe"]), max_size=80
).map(b"".join)
"""Ends of cells and of what is accepted are where bits are all alike."""


def alike(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype and one.tolist() == other.tolist()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_seeded_draws_are_those_of_vectors(sampler: Sampler) -> None:
    assert sampler.cells.shift <= HIGH_BITS
    for turn in range(400):
        size = turn % (FEW + 2)
        few, whole = SeededRandomness(f"few {turn}"), SeededRandomness(f"few {turn}")
        assert alike(sampler._few(size, few), sampler._batch(size, whole)), (size, turn)
        assert few.bytes(8) == whole.bytes(8)


@given(script=BYTES, number=st.integers(0, len(SAMPLERS) - 1), size=st.integers(0, FEW))
@settings(max_examples=1_000)
def test_whatever_the_bits_are_as_many_are_read_and_mean_the_same(
    script: bytes, number: int, size: int
) -> None:
    sampler = SAMPLERS[number]
    few, whole = ReplayedRandomness(script), ReplayedRandomness(script)
    assert alike(sampler._few(size, few), sampler._batch(size, whole))
    assert few.read == whole.read


@given(
    cuts=st.lists(st.integers(0, 2**32) | st.integers(0, 2**16).map(lambda n: n << 16)),
    script=BYTES,
    count=st.integers(0, 20),
)
def test_outcomes_are_those_of_vectors(cuts: list[int], script: bytes, count: int) -> None:
    # The rest has no end, so that each uniform number is decided somewhere.
    def ends(bits: int) -> list[int]:
        known = [end << bits >> 32 for end in sorted(cuts)]
        last = known[-1] if known else 0
        halves = (2**bits - ((2**bits - last) >> k) for k in range(1, bits + 1))
        return [*known, *halves, 2**bits]

    inversion = Inversion(ends)
    few, whole = ReplayedRandomness(script), ReplayedRandomness(script)
    assert list(inversion.sample_few(count, few)) == inversion.sample(count, whole).tolist()
    assert few.read == whole.read


@pytest.mark.parametrize(("size", "expected"), [(1, "_few"), (FEW, "_few"), (FEW + 1, "_batch")])
def test_few_are_drawn_one_by_one(
    size: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []

    def noted(name: str) -> Callable[..., np.ndarray]:
        real = getattr(Sampler, name)

        def draw(*arguments: object) -> np.ndarray:
            called.append(name)
            return np.asarray(real(*arguments))

        return draw

    for name in ("_few", "_batch"):
        monkeypatch.setattr(Sampler, name, noted(name))
    assert SAMPLERS[-1].sample(size, SeededRandomness("which")).size == size
    assert set(called) == {expected}


def test_positions_of_several_words_are_no_few_ones() -> None:
    with pytest.raises(ValueError, match="more than one word"):
        few_positions(HIGH_BITS + 1, 1, SeededRandomness("wide"))
