"""The one error that ends a build: what happened, where, and what to do."""


class BuildError(Exception):
    """Printed as it is, without a traceback."""
