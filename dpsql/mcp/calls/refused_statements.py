"""Statements that assistants can't run: what would change more than the budget."""

from __future__ import annotations

from dpsql.dbapi.statements.alert import CreateAlert
from dpsql.dbapi.statements.assignment import Assignment
from dpsql.dbapi.statements.calibrate import Calibrate
from dpsql.dbapi.statements.create_release import CreateRelease
from dpsql.dbapi.statements.parse import DropRelease, read_statement
from dpsql.errors import BadParameter, Refused


def check(sql: str) -> None:
    """Refuse what would change more than the budget, or hold for others' statements."""
    match read_statement(sql):
        case Assignment(setting=setting, value=value, at=at):
            name, option = setting.value, f"{setting.value} = {value or 'DEFAULT'}"
            raise BadParameter(
                f"dpsql.{name} holds for one statement at a time here",
                at=at,
                hint=f"end the statement with OPTIONS ({option})",
            )
        case DropRelease(name=name):
            raise Refused(
                f"{name} isn't dropped by this server",
                hint="drop it at the prompt: dpsql console",
            )
        case Calibrate():
            raise Refused(
                "ladders serve all analysts, and aren't drawn by this server",
                hint="their owner draws them: dpsql calibrate",
            )
        case CreateAlert(spec=spec) if spec.replace:
            raise Refused(
                f"{spec.name} isn't replaced by this server",
                hint="write CREATE ALERT with a name that is free",
            )
        case CreateRelease(request=wanted) if wanted.replace:
            raise Refused(
                f"{wanted.name} isn't replaced by this server",
                hint=f"write CREATE {wanted.kind.upper()} with a name that is free",
            )
        case _:
            pass
