"""What is switched on and off, and where answers go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Settings:
    """The switches of one console, each by its command.

    `noise` is shown on the screen; with `errors`, files and pipes have columns of it. `output` is
    the file that the next answers are added to, None for the screen.
    """

    timing: bool = False
    expanded: bool = False
    noise: bool = True
    errors: bool = False
    dry: bool = False
    output: Path | None = None
