from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy.seeded import ReplayedRandomness, SeededRandomness, replayed, uniform_script

from dpsql.privacy.mechanisms.noise.inverse_sampling import Inversion

ENDS = [Fraction(1, 7), Fraction(1, 3), Fraction(1, 2), Fraction(99_999, 100_000), Fraction(1)]


def ends_of(bits: int) -> list[int]:
    return [round(end * 2**bits) for end in ENDS]


TOY = Inversion(ends_of)


def outcome(uniform: Fraction) -> int:
    return bisect_right(ENDS, uniform)


@given(uniform=st.integers(0, 2**128 - 1))
@settings(max_examples=300)
def test_outcome_is_the_cell_the_uniform_falls_into(uniform: int) -> None:
    (drawn,) = TOY.sample(1, ReplayedRandomness(uniform_script(uniform, 128)))
    assert drawn == outcome(replayed(uniform, 128))


@pytest.mark.parametrize("end", range(4))
@pytest.mark.parametrize("bits", [64, 128, 256, 512])
@pytest.mark.parametrize("offset", [-3, 3])
def test_next_to_a_cut_point_bits_are_read_until_they_decide(
    end: int, bits: int, offset: int
) -> None:
    # 3 units of 2^-(bits - 2) beside the cut: nothing coarser can tell on which side of it.
    uniform = int(ENDS[end] * 2**bits) + 4 * offset
    script = uniform_script(uniform, bits)
    randomness = ReplayedRandomness(script)
    (drawn,) = TOY.sample(1, randomness)
    assert drawn == end + (offset > 0)
    assert randomness.read == len(script)


def test_short_prefixes_decide_only_what_is_certain() -> None:
    ends = [end * 2**16 for end in ENDS]
    for prefix, decided in enumerate(TOY._guide.tolist()):
        # The cell may begin where the prefix does, and must not end before the prefix's end.
        assert decided < 0 or (
            bisect_right(ends, prefix) == decided and ends[decided] >= prefix + 1
        )


@given(
    cuts=st.lists(
        st.integers(0, 2**32)
        | st.builds(
            lambda prefix, offset: min(max(prefix * 2**16 + offset, 0), 2**32),
            st.sampled_from([0, 1, 2, 3, 2**15, 2**16 - 1, 2**16]),
            st.integers(-2, 2),
        ),
        max_size=12,
    )
)
def test_the_table_of_prefixes_has_what_is_looked_up_among_cut_points(cuts: list[int]) -> None:
    """Also where several outcomes end within one prefix, or at its ends, or none is left."""
    inversion = Inversion(lambda _: [*sorted(cuts), 2**32])
    looked_up = inversion._of_16_bits(np.arange(2**16))
    assert inversion._guide.tolist() == looked_up.tolist()


def test_short_prefixes_decide_nearly_everything() -> None:
    assert np.count_nonzero(TOY._guide < 0) <= 2 * len(ENDS)


def test_cut_points_may_be_off_by_one_without_harm() -> None:
    def shifted(bits: int) -> list[int]:
        return [end + (-1) ** index for index, end in enumerate(ends_of(bits)[:-1])] + [2**bits]

    sloppy = Inversion(shifted)
    for end in range(4):
        for offset in range(-5, 6):
            uniform = int(ENDS[end] * 2**32) + offset
            (drawn,) = sloppy.sample(1, ReplayedRandomness(uniform_script(uniform, 32)))
            assert drawn == outcome(replayed(uniform, 32))


def test_nothing_is_decided_beyond_the_last_cut_point() -> None:
    # The last end is 1, so the outcomes there must come from finer tables, however fine.
    def geometric(bits: int) -> list[int]:
        return [2**bits - 2 ** (bits - k) for k in range(1, bits + 1)] + [2**bits]

    halves = Inversion(geometric)
    uniform = 2**256 - 3 * 2**100
    (drawn,) = halves.sample(1, ReplayedRandomness(uniform_script(uniform, 256)))
    assert drawn == 256 - 102


def test_frequencies_are_the_lengths_of_the_cells() -> None:
    # Four outcomes at six standard deviations: false failure below 1e-8.
    count = 400_000
    drawn = TOY.sample(count, SeededRandomness("inversion"))
    lengths = np.diff([0.0, *map(float, ENDS)])
    seen = np.bincount(drawn, minlength=len(ENDS))
    assert np.all(np.abs(seen - count * lengths) < 6 * np.sqrt(count * lengths))


def test_a_source_that_runs_dry_is_an_error() -> None:
    class Dry:
        def bytes(self, count: int) -> bytes:
            return b"\0" * (count // 2)

    with pytest.raises(ValueError, match="buffer"):
        TOY.sample(10, Dry())
