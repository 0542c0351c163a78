"""What a check says that cannot be made."""


class UncheckedError(Exception):
    """Raised by a check that cannot be made here, with the reason: there are no data, say."""
