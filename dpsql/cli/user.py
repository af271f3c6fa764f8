"""`dpsql user`: the users who may log in to `dpsql serve`, with verifiers of passwords."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsql.cli.exit_codes import echo_err, reporting_errors

if TYPE_CHECKING:
    from dpsql.pgwire.login.users import Users

_schema = click.argument("schema", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_name = click.argument("name")
_file = click.option(
    "--users", type=click.Path(path_type=Path), metavar="FILE", help="Not beside the ledger."
)


@click.group()
def user() -> None:
    """Say who may log in to a server: for its owner."""


@user.command()
@_schema
@_name
@_file
def add(schema: Path, name: str, users: Path | None) -> None:
    """Add a user; the password is asked for, or read from stdin."""
    password = cache(_password)

    def change(before: Users) -> Users:
        if name in before.verifiers:
            raise click.UsageError(f"{name} is there already; see dpsql user passwd")
        return before.with_password(name, password())

    _change(schema, users, change)
    echo_err(f"added {name}")


@user.command()
@_schema
@_name
@_file
def passwd(schema: Path, name: str, users: Path | None) -> None:
    """Change a password."""
    password = cache(_password)

    def change(before: Users) -> Users:
        if name not in before.verifiers:
            raise click.UsageError(f"there is no user {name}; see dpsql user add")
        return before.with_password(name, password())

    _change(schema, users, change)
    echo_err(f"changed {name}'s password")


@user.command()
@_schema
@_name
@_file
def remove(schema: Path, name: str, users: Path | None) -> None:
    """Remove a user; connections that are open stay open."""
    _change(schema, users, lambda before: before.without(name))
    echo_err(f"removed {name}")


@user.command("list")
@_schema
@_file
def show(schema: Path, users: Path | None) -> None:
    """List the users."""
    from dpsql.pgwire.login.users import read_users  # noqa: PLC0415 - slow to import
    from dpsql.report.terminal.sanitize import sanitize  # noqa: PLC0415 - slow to import

    with reporting_errors():
        for name in sorted(read_users(_path(schema, users)).verifiers):
            click.echo(sanitize(name))


def _change(schema: Path, users: Path | None, change: Callable[[Users], Users]) -> None:
    from dpsql.pgwire.login.users import change_users, read_users  # noqa: PLC0415 - slow to import

    with reporting_errors():
        path = _path(schema, users)
        # A password is asked for now: nobody else waits while it is typed.
        change(read_users(path))
        change_users(path, change)


def _path(schema: Path, users: Path | None) -> Path:
    from dpsql.pgwire.login.users import users_path  # noqa: PLC0415 - slow to import
    from dpsql.schema.load.load import load_schema  # noqa: PLC0415 - slow to import

    return users or users_path(load_schema(schema))


def _password() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\n")
