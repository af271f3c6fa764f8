"""Properties are tried on the same examples in every run, however slow the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("same")
