"""Commands that are imported when they are named or listed.

A command whose options are in a module of its own is needed by those alone who call it, or who ask
for help; to import all of them takes as long as a small query.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class DeferredCommands(click.Group):
    """A group that has, beside its own commands, those that `deferred` names.

    `deferred` is the module of each command by its name; the command is called as in there.
    """

    def __init__(self, *args: Any, deferred: Mapping[str, str], **named: Any) -> None:
        super().__init__(*args, **named)
        self._deferred = deferred

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the alphabet."""
        return sorted({*super().list_commands(ctx), *self._deferred})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None if there is none."""
        if cmd_name in self._deferred and cmd_name not in self.commands:
            self.add_command(getattr(import_module(self._deferred[cmd_name]), cmd_name))
        return super().get_command(ctx, cmd_name)
