"""Commands beside a server, in the tests' own process: another takes a second to begin."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path

import pytest
from cli.cli_run import runner
from pgwire.shop import environment


def command(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """What `pgwire.shop.command` returns. Commands that go on until they are stopped need that."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("DPSQL_STATE", environment(folder)["DPSQL_STATE"])
        ended = runner(patch)(*words, stdin=stdin.encode())
    return subprocess.CompletedProcess(words, ended.code, ended.out, ended.err)
