"""What the tests of channels say often."""

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from channels_app.testing import RunningSimulator
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs
from identity.testing import Person

PAGE, OTHER_PAGE = "1048576000001", "1048576000002"
OA = "3662000000000000001"


@dataclass
class Channel:
    """A channel's paths, and its customers at the simulated provider."""

    name: str
    ann: Person
    bot: Any
    sim: RunningSimulator
    # The account at the provider that is connected, or will be.
    account: str = PAGE

    def path(self, rest: str) -> str:
        return f"/{self.name}/{self.ann.client.pk}/{rest}"

    def bot_path(self, rest: str) -> str:
        return self.path(f"{rest}/{self.bot.pk}")

    def act(self, kind: str, *, user: str = "an", **values: Any) -> Any:
        """A customer does something, and the callback reaches us."""
        done = self.sim.act(self.account, user, kind, **values)
        self.sim.deliver()
        return done

    def write(self, text: str, *, user: str = "an") -> Any:
        return self.act("text", user=user, text=text)

    def settle(self) -> None:
        """Run what is due on both sides until nothing is left."""
        while run_jobs() + self.sim.deliver():
            pass

    def replies(self, user: str = "an") -> list[str]:
        """The words that the customer got."""
        return [message["text"] for message in self.sim.replies(self.account, user)]


def post_signed(person: Person, path: str, body: Any, **headers: str) -> Any:
    """A callback as the provider would send it, signed with the app's secret."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    secret: str = getattr(settings, f"{path.split('/')[1].upper()}_APP_SECRET")
    digest = hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    return person.browser.post(
        path, raw, content_type="application/json",
        headers={"X-Hub-Signature-256": f"sha256={digest}", **headers},
    )  # fmt: skip


def event(part: dict[str, Any], *, user: str = "6120000000000001", **more: Any) -> dict[str, Any]:
    """A callback with one event of a customer."""
    item = {
        "sender": {"id": user},
        "recipient": {"id": PAGE},
        "timestamp": 1795226399980,
        **part,
        **more,
    }
    return {"object": "page", "entry": [{"id": PAGE, "time": 1795226400123, "messaging": [item]}]}


def run_waiting() -> int:
    """Run jobs that wait for a later moment as if it had come."""
    Job.objects.filter(state=JobState.QUEUED).update(due_at=Now())
    return run_jobs()
