"""Exceptions, by Fathom's exit codes."""

from __future__ import annotations


class FathomError(Exception):
    """Fathom ended without a result. `exit_code` is the reason, `stderr` is all of Fathom's messages."""

    def __init__(self, message: str, exit_code: int, stderr: str = "") -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.stderr = stderr


class UsageError(FathomError):
    """The question can't be answered in this form (2)."""


class CommandFailed(FathomError):
    """The measured command failed (3)."""


class NotTrusted(FathomError):
    """The measurement can't be made, or can't be trusted (4)."""


class Interrupted(FathomError):
    """Fathom was interrupted before it had a result (130)."""


BY_CODE: dict[int, type[FathomError]] = {2: UsageError, 3: CommandFailed, 4: NotTrusted, 130: Interrupted}
