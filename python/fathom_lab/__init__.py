"""Fathom from Python: times, compares and explains commands, and returns typed results.

    import fathom_lab as fathom
    fathom.bench("gzip -1 -k -c f", "gzip -9 -k -c f")
    fathom.why("python3 report.py").where()
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from . import _decode, records
from ._results import Bench, Compare, Difference, Result, Why
from ._run import run
from .errors import CommandFailed, FathomError, Interrupted, NotTrusted, UsageError

__all__ = [
    "Bench",
    "CommandFailed",
    "Compare",
    "Difference",
    "FathomError",
    "Interrupted",
    "NotTrusted",
    "Result",
    "UsageError",
    "Why",
    "bench",
    "compare",
    "difference",
    "read",
    "records",
    "why",
]


def bench(
    *commands: str,
    runs: int | None = None,
    time: str | None = None,
    metric: str | None = None,
    input: str | None = None,
    label: str | None = None,
    options: tuple[str, ...] = (),
    cwd: str | os.PathLike[str] | None = None,
) -> Bench:
    """Times commands and compares them with the first. `options` are further options of `fathom bench --help`."""
    asked = _asked(runs=runs, time=time, metric=metric, input=input, label=label)
    raw = run(["bench", "--json=-", *asked, *options, *_commands(commands)], cwd)
    return Bench(_decode.record(records.BenchRecord, raw), raw)


def why(
    command: str,
    *,
    input: str | None = None,
    options: tuple[str, ...] = (),
    cwd: str | os.PathLike[str] | None = None,
) -> Why:
    """Accounts for a command's time, and names the causes of slowness."""
    raw = run(["why", "--json=-", *_asked(input=input), *options, *_commands((command,))], cwd)
    return Why(_decode.record(records.WhyRecord, raw), raw)


def compare(
    base: str, head: str, *series: str, metric: str | None = None, cwd: str | os.PathLike[str] | None = None
) -> Compare:
    """Compares saved measurements: revisions, labels, records or record files."""
    raw = run(["compare", "--json=-", *_asked(metric=metric), "--", base, head, *series], cwd)
    return Compare(_decode.record(records.CompareRecord, raw), raw)


def difference(
    a: str,
    b: str,
    *,
    input: str | None = None,
    options: tuple[str, ...] = (),
    cwd: str | os.PathLike[str] | None = None,
) -> Difference:
    """Explains the time that `b` takes more than `a`, part by part."""
    raw = run(["why", "--json=-", *_asked(input=input), *options, *_commands((a, b))], cwd)
    return Difference(_decode.record(records.DifferenceRecord, raw), raw)


def read(path: str | os.PathLike[str]) -> Bench | Why | Difference | Compare:
    """Reads a record that a verb wrote with `--json FILE`."""
    try:
        raw: Any = json.loads(pathlib.Path(path).read_bytes())
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}", 2) from error
    match raw.get("kind") if isinstance(raw, dict) else None:
        case "bench":
            return Bench(_decode.record(records.BenchRecord, raw), raw)
        case "why":
            return Why(_decode.record(records.WhyRecord, raw), raw)
        case "difference":
            return Difference(_decode.record(records.DifferenceRecord, raw), raw)
        case "compare":
            return Compare(_decode.record(records.CompareRecord, raw), raw)
        case kind:
            raise UsageError(f"{path} is not a record of bench, why or compare, but {kind!r}", 2)


def _asked(**options: str | int | None) -> list[str]:
    return [f"--{name}={value}" for name, value in options.items() if value is not None]


def _commands(commands: tuple[str, ...]) -> tuple[str, ...]:
    for command in commands:
        if not command or command.startswith("-"):
            raise UsageError(f"{command!r} is not a command", 2)
    return commands
