"""What the tests of channels say often."""

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from channels_app.models import ChannelConnection
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs
from identity.testing import Person
from simulator.testing import RunningSimulator

EVENT_TIME = "1795226399980"
PAGE, OTHER_PAGE = "1048576000001", "1048576000002"
OA = "3662000000000000001"
BOT = "7100000001"
# Accounts of photoapp, linked to those pages.
ACCOUNT, OTHER_ACCOUNT = "17840000000000001", "17840000000000002"
# By the channel: where its callbacks come, and the fixture that connects an account.
PATHS = {
    "socialnet": "/socialnet/webhook", "photoapp": "/photoapp/webhook",
    "chatapp": "/chatapp/webhook", "localapp": "/localapp/callback",
    "telegram": f"/telegram/webhook/{BOT}",
}  # fmt: skip
CONNECTED = {
    "socialnet": "page", "photoapp": "account", "chatapp": "number", "localapp": "oa",
    "telegram": "telegram_bot",
}  # fmt: skip


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

    def store_token(self) -> str:
        """Store Ann's own token at the provider."""
        token = self.sim.token(self.name)
        reply = self.ann.post(self.path("user-token"), {"access_token": token})
        assert reply.status_code == 200, reply.content
        return token

    def connect_page(self) -> ChannelConnection:
        """Connect the account, by the stored token."""
        reply = self.ann.post(self.bot_path("connect_page"), {"page_id": self.account})
        assert reply.status_code == 200, reply.content
        return ChannelConnection.objects.get(pk=reply.json()["id"])

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
    """A callback as the provider would send it, signed in the channel's way."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    channel = path.split("/")[1]
    if channel == "localapp":
        time = body.get("timestamp", EVENT_TIME) if isinstance(body, dict) else EVENT_TIME
        signed = {"X-ZEvent-Signature": f"mac={localapp_signature(raw, time=time)}"}
    elif channel == "telegram":
        rows = ChannelConnection.objects.filter(account_id=path.rpartition("/")[2])
        secret = next((row.secret for row in rows), "") or "no secret"
        signed = {"X-Telegram-Bot-Api-Secret-Token": secret}
    else:
        secret = getattr(settings, f"{channel.upper()}_APP_SECRET")
        digest = hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
        signed = {"X-Hub-Signature-256": f"sha256={digest}"}
    return person.browser.post(
        path, raw, content_type="application/json", headers={**signed, **headers}
    )


def localapp_signature(raw: bytes, *, time: str = EVENT_TIME, key: str | None = None) -> str:
    """What localapp signs with: a plain hash over app, body, time and the webhook's key."""
    parts = (settings.LOCALAPP_APP_ID, raw.decode(), time, key or settings.LOCALAPP_OA_SECRET_KEY)
    return hashlib.sha256("".join(parts).encode()).hexdigest()


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


def of_photoapp(part: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A callback with one event of a customer of photoapp."""
    body = event(part, recipient={"id": ACCOUNT}, **more)
    body["object"], body["entry"][0]["id"] = "instagram", ACCOUNT
    return body


def of_localapp(name: str = "user_send_text", message: Any = None, **more: Any) -> dict[str, Any]:
    """A callback with one event of a customer of localapp."""
    return {
        "app_id": settings.LOCALAPP_APP_ID, "event_name": name, "timestamp": EVENT_TIME,
        "sender": {"id": "6142000000000000001"}, "recipient": {"id": OA},
        "message": message or {"msg_id": "cb31dff1c39642cc1b83", "text": "hello"}, **more,
    }  # fmt: skip


def run_waiting() -> int:
    """Run jobs that wait for a later moment as if it had come."""
    Job.objects.filter(state=JobState.QUEUED).update(due_at=Now())
    return run_jobs()
