"""How long tests wait for what ends by itself."""

from __future__ import annotations

from typing import Final

HANGS_AFTER: Final = 300
"""Seconds after which something hangs; on a machine that does much else, half a minute is none."""
