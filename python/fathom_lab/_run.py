"""Finds and runs the command `fathom`."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from typing import Any, Sequence

from .errors import BY_CODE, FathomError


def program() -> str:
    """Returns `$FATHOM`, else the program installed with this package, else the one in PATH."""
    if named := os.environ.get("FATHOM"):
        return named
    beside = [pathlib.Path(sysconfig.get_path("scripts")), pathlib.Path(sys.executable).parent]
    for folder in beside:
        if (folder / "fathom").is_file():
            return str(folder / "fathom")
    if found := shutil.which("fathom"):
        return found
    raise FathomError("there is no program 'fathom': install it, or set $FATHOM to its path", 127)


def run(words: Sequence[str], cwd: str | os.PathLike[str] | None) -> Any:
    """Runs a verb and returns the record that it writes with `--json -`."""
    ended = subprocess.run(
        [program(), *words],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1"},
    )
    if ended.stdout:
        return json.loads(ended.stdout)
    stderr = ended.stderr.decode(errors="replace")
    said = [line.removeprefix("error: ") for line in stderr.splitlines() if line.startswith("error: ")]
    message = said[0] if said else "Fathom ended without a result"
    raise BY_CODE.get(ended.returncode, FathomError)(message, ended.returncode, stderr)
