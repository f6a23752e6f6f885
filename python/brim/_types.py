"""What calls take."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, TypedDict, Union

from brim._brim import Limit, Limits, ManualClock

# "5 per minute; 100 per day", a Limit, a Limits (read once: the fastest), or a list of texts and Limits.
LimitsLike: TypeAlias = Union[str, Limit, Limits, Sequence[Union[str, Limit]]]


class Check(NamedTuple):
    """One check of a batch."""

    subject: str
    limits: LimitsLike
    cost: int = 1
    scope: str = ""


class Options(TypedDict, total=False):
    """The options of a limiter beside its store."""

    clock: ManualClock | None  # of memory:// alone; see brim.testing
    key_prefix: str
    hash_tag: bool  # braces around the subject, as Redis Cluster needs them
    store_timeout_ms: float
    on_failure: Literal["local", "open", "closed"]  # who answers when the store does not
    nodes: int  # replicas that share the limits, for "local"
    disabled: bool
