"""What can keep a stage from running, each with the exit code its command ends with."""


class StageError(Exception):
    """The stage cannot be run as it is set up; one line, exit 3."""

    exit_code = 3


class UnreachableError(StageError):
    """A part of the stage does not answer; one line, exit 4."""

    exit_code = 4
