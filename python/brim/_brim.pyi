"""The engine. Import these names from `brim`; everything here is thread-safe."""

from collections.abc import Sequence
from types import TracebackType
from typing import Literal, Self

from brim._types import Check, LimitsLike

_Algorithm = Literal["sliding_window", "fixed_window", "token_bucket", "sliding_window_counter"]
_OnFailure = Literal["local", "open", "closed"]

class Limit:
    """Cost units per window, and how they are counted. Valid by construction; immutable; hashable."""

    def __init__(
        self,
        units: int,
        window_seconds: float,
        *,
        algorithm: _Algorithm = "sliding_window",
        burst: int | None = None,
        aligned: bool = False,
        count: Literal["admitted", "all"] = "admitted",
        mode: Literal["enforce", "shadow", "off"] = "enforce",
        weighted: bool = False,
        key: Literal["full", "plain"] = "full",
    ) -> None:
        """Raises InvalidArgument with the field and the remedy."""

    @staticmethod
    def parse(text: str, *, algorithm: _Algorithm = "sliding_window") -> Limit:
        """Reads "5 per minute", "100/day", "10/second burst 20". `algorithm` is for a text that names none."""

    @property
    def units(self) -> int: ...
    @property
    def window_seconds(self) -> float: ...
    @property
    def window(self) -> str:
        """Its name in answers: "minute", "day", "15m", "700ms"."""

    @property
    def capacity(self) -> int:
        """The largest cost that can ever fit: the burst of a token bucket, else the units."""

    @property
    def burst(self) -> int: ...
    @property
    def algorithm(self) -> _Algorithm: ...
    @property
    def aligned(self) -> bool: ...
    @property
    def count(self) -> Literal["admitted", "all"]: ...
    @property
    def mode(self) -> Literal["enforce", "shadow", "off"]: ...
    @property
    def weighted(self) -> bool: ...
    @property
    def key(self) -> Literal["full", "plain"]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class Limits:
    """Limits that are read once and used often: the fastest to pass to a call. Immutable."""

    def __init__(self, limits: LimitsLike) -> None: ...
    def headers(self, decision: Decision) -> list[tuple[str, str]]:
        """The HTTP headers that tell this decision of these limits, on success and on refusal."""

    def raw_headers(self, decision: Decision) -> list[tuple[bytes, bytes]]:
        """The same as ASGI has them, names in lower case."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Limit: ...

class LineDecision:
    """One limit of a check, after the check."""

    @property
    def limit(self) -> Limit: ...
    @property
    def cost(self) -> int: ...
    @property
    def fits(self) -> bool: ...
    @property
    def would_deny(self) -> bool:
        """A shadow limit that would have refused."""

    @property
    def remaining(self) -> int: ...
    @property
    def retry_after(self) -> int | None:
        """Whole seconds, rounded up; 0 if it fits, None if it never can."""

    @property
    def retry_after_ms(self) -> int | None: ...
    @property
    def reset_after_ms(self) -> int: ...

class Decision:
    """The answer to one check, and why. True if allowed. A failure of the store always shows in `reason`."""

    @property
    def allowed(self) -> bool: ...
    def __bool__(self) -> bool: ...
    @property
    def reason(
        self,
    ) -> Literal[
        "within_limit",
        "over_limit",
        "cost_exceeds_limit",
        "no_rule",
        "shadow",
        "kill_switch",
        "degraded_local",
        "fail_open",
        "fail_closed",
        "invalid_limit",
    ]: ...
    @property
    def store_error(self) -> Literal["unavailable", "unknown", "oom", "setup"] | None: ...
    @property
    def limit(self) -> int:
        """Of the limit that refused; when allowed, of the tightest. So are the next ones."""

    @property
    def remaining(self) -> int: ...
    @property
    def window(self) -> str | None: ...
    @property
    def window_seconds(self) -> float | None: ...
    @property
    def retry_after(self) -> int | None:
        """Whole seconds, rounded up, at least 1; 0 if allowed, None if the cost can never fit."""

    @property
    def retry_after_ms(self) -> int | None: ...
    @property
    def reset_after(self) -> int:
        """Seconds until the key is full again."""

    @property
    def reset_after_ms(self) -> int: ...
    @property
    def lines(self) -> list[LineDecision]:
        """Shortest window first; those that were looked at."""

class Receipt:
    """What a check charged, for one refund of exactly that. False if nothing was charged, or when used up."""

    def __bool__(self) -> bool: ...

class ManualClock:
    """Time that moves only when told to. Import it from `brim.testing`."""

    def __init__(self) -> None: ...
    def advance(self, seconds: float) -> None: ...

class Engine:
    """What all limiters have. A context manager that closes."""

    def close(self) -> None:
        """Ends the connection. Calls under way get an answer; later ones raise Closed."""

    @property
    def closed(self) -> bool: ...
    @property
    def embedded(self) -> bool:
        """Whether the store is this process's memory: calls never wait."""

    @property
    def disabled(self) -> bool:
        """Whether limiting is off: by this flag, or by RATE_LIMIT_DISABLED=true in os.environ, looked at in each call."""

    @disabled.setter
    def disabled(self, arg: bool, /) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class RateLimiter(Engine):
    """The small form: a user, a limit, a window in seconds (sliding_window)."""

    def __init__(
        self,
        redis_url: str = "redis://localhost:6379/0",
        *,
        clock: ManualClock | None = None,
        key_prefix: str = "ratelimit",
        hash_tag: bool = False,
        store_timeout_ms: float = 50.0,
        on_failure: _OnFailure = "local",
        nodes: int = 1,
        disabled: bool = False,
    ) -> None: ...
    def check(self, user_id: str, limit: int, window_seconds: float, scope: str = "") -> tuple[bool, int, int]:
        """(allowed, remaining, retry_after_s). Blocks for at most store_timeout_ms, without the GIL."""

class Limiter(Engine):
    """The whole engine. Calls block for at most store_timeout_ms, without the GIL; in memory they never wait."""

    def __init__(
        self,
        store: str = "memory://",
        *,
        clock: ManualClock | None = None,
        key_prefix: str = "ratelimit",
        hash_tag: bool = False,
        store_timeout_ms: float = 50.0,
        on_failure: _OnFailure = "local",
        nodes: int = 1,
        disabled: bool = False,
    ) -> None:
        """Connects in the background: a server that is absent now is found when it comes."""

    def check(self, subject: str, limits: LimitsLike, cost: int = 1, scope: str = "") -> Decision:
        """Charges all limits, or none. `cost` 0 peeks."""

    def check_with_receipt(
        self, subject: str, limits: LimitsLike, cost: int = 1, scope: str = ""
    ) -> tuple[Decision, Receipt]:
        """A check, and what `refund` takes to give exactly this back."""

    def peek(self, subject: str, limits: LimitsLike, scope: str = "") -> Decision:
        """Whether one unit would fit now. Writes nothing."""

    def charge(self, subject: str, limits: LimitsLike, cost: int = 1, scope: str = "") -> Decision:
        """Charges all limits, past them too: for what is known only afterwards."""

    def refund(
        self, subject: str, limits: LimitsLike, cost: int = 1, scope: str = "", receipt: Receipt | None = None
    ) -> Decision:
        """Gives back what the receipt says, which it uses up; else the oldest units, at most what was used."""

    def reset(self, subject: str, limits: LimitsLike, scope: str = "") -> int:
        """Forgets what the subject used under these limits; tells how many keys there were. Raises StoreError."""

    def check_batch(self, checks: Sequence[Check]) -> list[Decision]:
        """Many checks in order, each atomic by itself, at a fraction of the cost of single ones."""

    # For brim.aio: (decision, receipt) if the engine answers inside the call, else the answer comes through
    # `completions` under this number.
    def start_check(
        self,
        completions: Completions,
        number: int,
        subject: str,
        limits: LimitsLike,
        cost: int,
        scope: str,
        receipt: Receipt | None = None,
    ) -> tuple[Decision, Receipt] | None: ...
    def start_check_with_receipt(
        self,
        completions: Completions,
        number: int,
        subject: str,
        limits: LimitsLike,
        cost: int,
        scope: str,
        receipt: Receipt | None = None,
    ) -> tuple[Decision, Receipt] | None: ...
    def start_charge(
        self,
        completions: Completions,
        number: int,
        subject: str,
        limits: LimitsLike,
        cost: int,
        scope: str,
        receipt: Receipt | None = None,
    ) -> tuple[Decision, Receipt] | None: ...
    def start_refund(
        self,
        completions: Completions,
        number: int,
        subject: str,
        limits: LimitsLike,
        cost: int,
        scope: str,
        receipt: Receipt | None = None,
    ) -> tuple[Decision, Receipt] | None: ...

class Completions:
    """Answers on their way from a store's thread to an event loop, which watches `fileno()`."""

    def __init__(self) -> None: ...
    def fileno(self) -> int: ...
    def take(self) -> list[tuple[int, Decision, Receipt]]: ...

def body(decision: Decision) -> bytes:
    """The whole decision as JSON, as brim's own HTTP doors tell it."""
