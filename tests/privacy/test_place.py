from __future__ import annotations

import numpy as np
import pytest
from privacy.seeded import SeededRandomness

from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import LowBits


@pytest.mark.parametrize("bits", [1, 16, 17, 32, 33, 50, 51, 64, 114, 115, 300])
@pytest.mark.parametrize("far", [0, 2**40])
def test_places_join_cells_to_integers_of_both_signs(bits: int, far: int) -> None:
    places = LowBits.sample(bits, 64, SeededRandomness(f"place {bits}"))
    outcomes = np.arange(64) + far
    joined = places.attach(outcomes).tolist()
    for index, outcome in enumerate(outcomes.tolist()):
        place = places.full(index)
        assert 0 <= place < 2**bits
        x = (outcome // 2) * 2**bits + place
        assert joined[index] == (-1 - x if outcome % 2 else x)


@pytest.mark.parametrize("bits", [5, 50, 51, 70, 130])
def test_every_bit_of_a_place_is_a_fair_coin(bits: int) -> None:
    # Six standard deviations for each of up to 130 bits: false failure below 1e-6.
    places = LowBits.sample(bits, 10_000, SeededRandomness(f"bits {bits}"))
    drawn = [places.full(index) for index in range(10_000)]
    for bit in range(bits):
        assert abs(sum(place >> bit & 1 for place in drawn) - 5000) < 300


def test_taking_places_keeps_them_whole() -> None:
    places = LowBits.sample(200, 10, SeededRandomness("take"))
    taken = places.take(np.array([7, 2]))
    assert [taken.full(0), taken.full(1)] == [places.full(7), places.full(2)]
