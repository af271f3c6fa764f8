"""Builds and starts the image of packaging/Dockerfile without docker: the same commands, in a
copy of this machine's file system that is thrown away.

Runs in mount and network namespaces of its own: `unshare -mn python image.py ROOT HATCH FOLDER`.
What runs as the image's user finds everything read-only but /state. Prints what it saw, as JSON.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

BIN = "/opt/image/bin"


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """Each instruction with what it says."""
    lines = [line for line in dockerfile.read_text().splitlines() if not line.startswith("#")]
    text = re.sub(r"\\\n", "", "\n".join(lines))
    said = (line.partition(" ") for line in text.splitlines() if line.strip())
    return [(word, rest.lstrip()) for word, _, rest in said]


def run(*words: object, **options: object) -> None:
    subprocess.run([str(word) for word in words], check=True, **options)  # type: ignore[call-overload]


def copied(root: Path, target: Path) -> None:
    """What .dockerignore leaves of the build's context."""
    patterns = [p for p in (root / ".dockerignore").read_text().splitlines() if p[:1] not in "# "]
    tops = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    deep = [pattern[3:] for pattern in patterns if pattern.startswith("**/")]
    assert patterns[0] == "*"

    def ignored(_: str, names: list[str]) -> set[str]:
        return {name for name in names if any(fnmatch.fnmatch(name, one) for one in deep)}

    target.mkdir(parents=True)
    for top in tops:
        if (root / top).is_dir():
            shutil.copytree(root / top, target / top, ignore=ignored)
        else:
            shutil.copy(root / top, target / top)


class Image:
    """A file system above this machine's own."""

    def __init__(self, folder: Path) -> None:
        run("mount", "-t", "tmpfs", "none", folder)
        self.root = folder / "root"
        for name in ("up", "work", "root"):
            (folder / name).mkdir()
        layers = f"lowerdir=/,upperdir={folder}/up,workdir={folder}/work"
        run("mount", "-t", "overlay", "overlay", "-o", layers, self.root)
        for name in ("proc", "dev"):
            run("mount", "--rbind", f"/{name}", self.root / name)
        self.environment = {"PATH": f"{BIN}:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}

    def shell(self, line: str) -> None:
        built = {"PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}
        built["PIP_IGNORE_INSTALLED"] = "1"  # the project itself may be among the dependencies
        words = ["chroot", str(self.root), "/bin/sh", "-c", line]
        subprocess.run(words, check=True, env=self.environment | built, stdout=sys.stderr)

    def start(self, user: str, *words: str, **options: object) -> subprocess.Popen[str]:
        uid, gid = user.split(":")
        command = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
        command += ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", *words]
        return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
            ["chroot", str(self.root), *command],
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )


def python_in(image: Image, hatch: str) -> None:
    """The base image's Python, with what the index would have: dependencies, and the builder."""
    run("chroot", image.root, sys.executable, "-m", "venv", "/opt/image")
    (site,) = (image.root / "opt/image/lib").glob("python*/site-packages")
    (site / "index.pth").write_text(f"{sysconfig.get_path('purelib')}\n{hatch}\n")
    # Homes are closed to others, and Python itself may lie in one.
    for real in {Path(sys.executable).resolve(), Path(sys.executable).absolute()}:
        for folder in real.parents:
            inside = image.root / str(folder).lstrip("/")
            if inside.exists():
                inside.chmod(inside.stat().st_mode | 0o011)


def main(root: Path, hatch: str, folder: Path, data: Path) -> None:
    image, user, entry, command = Image(folder), "", [], []
    python_in(image, hatch)
    for word, said in instructions(root / "packaging" / "Dockerfile"):
        match word:
            case "COPY" if not said.startswith("--from"):
                _, target = said.split()
                copied(root, image.root / target.lstrip("/"))
            case "RUN":
                image.shell(said)
            case "ENV":
                image.environment |= dict(pair.split("=", 1) for pair in said.split())
            case "USER":
                user = said
            case "ENTRYPOINT":
                entry = json.loads(said)
            case "CMD":
                command = json.loads(said)
            case _:
                pass  # FROM, LABEL, EXPOSE …: nothing that this builds is of them
    (image.root / "data").mkdir()
    run("mount", "--bind", data, image.root / "data")
    run("mount", "-o", "remount,bind,ro", image.root / "data")
    run("mount", "-t", "tmpfs", "-o", "mode=700,uid=10001,gid=10001", "none", image.root / "state")
    run("mount", "-o", "remount,ro", image.root)
    run("ip", "link", "set", "lo", "up")
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    adding = image.start(user, *entry, "user", "add", "/data/schema.yaml", "alice", **options)
    _, added = adding.communicate("correct horse\n", timeout=60)
    serving = image.start(user, *entry, *command, stdout=subprocess.DEVNULL)
    assert serving.stderr is not None
    told = []
    for line in serving.stderr:
        told.append(line)
        if "health on" in line:
            break
    found: dict[str, object] = {"added": added, "told": told, "user": user}
    if serving.poll() is None and told:
        found |= asked(image, serving)
    print(json.dumps(found))  # noqa: T201 - the test reads it


def asked(image: Image, serving: subprocess.Popen[str]) -> dict[str, object]:
    import psycopg

    status = Path(f"/proc/{serving.pid}/status").read_text()
    uid = re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)
    probe = image.start("10001:10001", "/bin/sh", "-c", "echo x > /opt/x || echo x > /data/x")
    _, refused = probe.communicate(timeout=20)
    with psycopg.connect("host=127.0.0.1 port=5433 user=alice", password="correct horse") as one:  # noqa: S106
        rows = one.execute("SELECT status, count(*) FROM orders GROUP BY 1").fetchall()
    begun = time.monotonic()
    serving.terminate()
    code = serving.wait(60)
    return {
        "uid": int(uid[1]) if uid else -1,
        "refused": refused,
        "rows": len(rows),
        "code": code,
        "stopped_in": time.monotonic() - begun,
        "state": sorted(path.name for path in (image.root / "state").iterdir()),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
