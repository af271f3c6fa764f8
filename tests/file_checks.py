"""What pre-commit asks of files that no other tool reads: `python tests/file_checks.py FILE …`.

YAML, TOML and JSON can be parsed, shell scripts too; a text ends in one line break and has no marks
of an unfinished merge. What is wrong is printed, file by file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

MERGE = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)


def faults(path: Path) -> list[str]:
    """What is wrong with a file; nothing with one that is no text."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return []
    found = ["it has marks of a merge"] if MERGE.search(text) else []
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        found.append("it doesn't end in one line break")
    return [*found, *_unparsed(path, text)]


def _unparsed(path: Path, text: str) -> list[str]:
    try:
        match path.suffix:
            case ".json":
                json.loads(text)
            case ".toml":
                tomllib.loads(text)
            case ".yaml" | ".yml":
                list(yaml.compose_all(text, yaml.SafeLoader))
            case _ if text.startswith("#!/usr/bin/env bash"):
                subprocess.run(["bash", "-n", path], check=True, capture_output=True, text=True)
            case _:
                pass
    except (ValueError, yaml.YAMLError) as error:
        return [f"it can't be parsed: {error}"]
    except subprocess.CalledProcessError as error:
        return [f"it can't be parsed: {error.stderr}"]
    return []


def main(names: list[str]) -> int:
    """How many of the files have faults, as an exit code."""
    found = {name: faults(Path(name)) for name in names}
    for name, said in found.items():
        sys.stdout.writelines(f"{name}: {fault}\n" for fault in said)
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
