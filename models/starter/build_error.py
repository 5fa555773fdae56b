"""The errors that end a build: what happened, where, and what to do."""


class BuildError(Exception):
    """Printed as it is, without a traceback."""

    exit_code = 1


class DownloadError(BuildError):
    """A package is neither in the folder nor can be downloaded."""

    exit_code = 3
