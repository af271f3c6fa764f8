"""Values that become NULL, without pyarrow's functions: to import these takes 50 ms."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def null_outside(values: pa.Array, shown: NDArray[np.bool_]) -> pa.Array:
    """`values` where `shown` is true, and NULL elsewhere.

    Nothing of a value that isn't shown is left: an array may have one behind its NULL.
    """
    if not _has_words(values):
        pairs = zip(values.to_pylist(), shown.tolist(), strict=True)
        return pa.array([value if is_shown else None for value, is_shown in pairs], values.type)
    width = values.type.bit_width // 8
    words = np.frombuffer(values.buffers()[1], np.uint8, len(values) * width).reshape(-1, width)
    mask, data = np.packbits(shown, bitorder="little"), words * shown[:, np.newaxis]
    return pa.Array.from_buffers(values.type, len(values), list(map(pa.py_buffer, (mask, data))))


def _has_words(values: pa.Array) -> bool:
    """Whether an array has each value in bytes of its own, and no NULL."""
    kind = values.type
    is_number = (
        pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal128(kind)
    )
    return is_number and len(values) > 0 and not values.offset and not values.null_count
