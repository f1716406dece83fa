"""The declared jobs and their queues."""

import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

log = logging.getLogger(__name__)
# The live channel that wakes the relay.
CHANNEL = "jobs"


class Queue(StrEnum):
    """The queues; each worker serves some of them."""

    REPLY = "reply"  # a customer waits for it: seconds matter
    CHANNEL = "channel"  # sends to messaging providers: waits on their servers
    WEBHOOK = "webhook"  # deliveries: a slow receiver must not slow replies
    INSIGHT = "insight"  # summaries, tags, sentiment: nobody waits for them
    TRAIN = "train"  # hostile files and heavy CPU load: child processes with limits
    EXPORT = "export"  # long reads


@dataclass(frozen=True)
class Declaration:
    """A job as declared by `@job`."""

    run: Callable[..., None]
    queue: Queue
    max_attempts: int
    task: Any
    on_dead: Callable[..., None] | None
    # Whether clients take turns; see `fair_share.run_next`.
    fair: bool = False


declared: dict[str, Declaration] = {}


def queue_of(name: str) -> str:
    """The queue of a job; `unknown` if this release does not declare the job."""
    return str(declared[name].queue) if name in declared else "unknown"


def call_with_known_args(function: Callable[..., None], args: dict[str, Any]) -> None:
    """Call a function with the arguments that it knows.

    During a rolling deploy, the next release may already have enqueued jobs with more arguments.
    """
    parameters = inspect.signature(function).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        unknown = args.keys() - {parameter.name for parameter in parameters}
        if unknown:
            log.warning("%s ignores %s", function.__qualname__, ", ".join(sorted(unknown)))
        args = {name: value for name, value in args.items() if name not in unknown}
    function(**args)
