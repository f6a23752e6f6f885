"""What brim raises. A limited check is no error: it is a Decision."""


class BrimError(Exception):
    """The base of all."""


class InvalidArgument(BrimError, ValueError):
    """The caller's input makes no sense; `field` names the part, the text says what to do."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class StoreError(BrimError):
    """The store did not do it. `code` is "unavailable" (surely not done), "unknown" (perhaps done), "oom" or "setup"."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Closed(BrimError, RuntimeError):
    """The limiter was closed before this call."""
