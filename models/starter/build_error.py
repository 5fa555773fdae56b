"""The errors that end a build. They say what happened, where, and what to do."""


class BuildError(Exception):
    """An error that is printed without a traceback."""

    exit_code = 1


class DownloadError(BuildError):
    """A package is not in the folder and cannot be downloaded."""

    exit_code = 3
