"""Counting calls: the headers that say how much is used, and the refusal above the limit."""

import json
import math

from simulator.call_subject import Subject, subject_of
from simulator.http import Request, graph_error, localapp_error
from simulator.state import Simulator
from simulator.world import HOUR

_TYPES = {"socialnet": "messenger", "photoapp": "instagram", "chatapp": "whatsapp"}


def count(sim: Simulator, base: str, subject: Subject) -> dict[str, str]:
    """Count this call; returns the headers of its answer."""
    if base not in {"graph", "direct", "localapp"} or not subject.app_id:
        return {}
    used = _use(sim, base, subject.app_id, add=1)
    if base == "localapp":
        limit = sim.limits.calls_a_minute
        left = max(0, limit - used)
        return {"X-RateLimit-Limit": str(limit), "X-RateLimit-Remain": str(left)}
    percent = used * 100 // sim.limits.calls_an_hour
    usage = {"call_count": percent, "total_time": percent // 2, "total_cputime": percent // 3}
    headers = {"X-App-Usage": json.dumps(usage)}
    if subject.account:
        minutes = 0 if percent < 100 else math.ceil((HOUR - sim.world.now % HOUR) / 60)
        kind = {
            "type": _TYPES[subject.channel],
            **usage,
            "estimated_time_to_regain_access": minutes,
        }
        headers["X-Business-Use-Case-Usage"] = json.dumps({subject.account: [kind]})
    return headers


def refuse_too_many(sim: Simulator, base: str, request: Request) -> None:
    subject = subject_of(sim.world, base, request)
    if base not in {"graph", "direct", "localapp"} or not subject.app_id:
        return
    used = _use(sim, base, subject.app_id)
    if base == "localapp" and used > sim.limits.calls_a_minute:
        raise localapp_error(-32, "Application call limit reached")
    if base != "localapp" and used > sim.limits.calls_an_hour:
        raise graph_error(4, "Application request limit reached")


def _use(sim: Simulator, base: str, app_id: str, add: int = 0) -> int:
    period = 60 if base == "localapp" else HOUR
    key = (app_id, int(sim.world.now // period))
    sim.used[key] += add
    return sim.used[key]
