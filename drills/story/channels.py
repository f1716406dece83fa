"""Customers on messaging channels: connect accounts, exchange messages, disconnect."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from drills.story.training import RETURNS
from drills.story.world import Json, World, eventually
from simulator import defaults
from simulator.client import Client as ProviderClient

PAGE, PHOTO, NUMBER, OA, BOT = (
    "1048576000001", "17840000000000001", "1122334455667", "3662000000000000001", "7100000001",
)  # fmt: skip
HOOKS = {"localapp": "/localapp/callback", "telegram": "/telegram/webhook/{account_id}"}
HOME = "https://story.example/done"


@dataclass
class Channel:
    """A channel's paths, and its account at the simulated provider."""

    world: World
    name: str
    account: str
    providers: ProviderClient

    def path(self, rest: str) -> str:
        return f"/{self.name}/{self.world.client_id}/{rest}"

    def of_bot(self, rest: str) -> str:
        return self.path(f"{rest}/{self.world.bot_id}")

    def got(self) -> list[str]:
        """The texts that the customer received."""
        return [row["text"] for row in self.providers.replies(self.account, "an")]

    def has(self, status: str) -> Json:
        shown: Json = self.world.ann.get(self.of_bot("connection"))
        assert shown["status"] == status, shown
        return shown


def tell(world: World) -> None:
    providers = world.providers
    for name, account, connect, give_up in CHANNELS:
        channel = Channel(world, name, account, providers)
        connect(channel)
        talk(channel)
        give_up(channel)
        before = len(channel.got())
        providers.write_text(name, account, "an", "Are you there?")
        providers.wait_until_quiet()
        assert len(channel.got()) == before, "the account is given up"


def talk(channel: Channel) -> None:
    """The customer asks and the bot answers; an agent writes, and the customer reads it."""
    world, path = channel.world, channel.of_bot("messages")
    channel.providers.write_text(channel.name, channel.account, "an", RETURNS)
    hook = HOOKS.get(channel.name, f"/{channel.name}/webhook")
    eventually(lambda: any("thirty days" in text for text in channel.got()), "the bot's answer")
    world.driven["POST", hook].add("provider")
    user = channel.providers.thread(channel.account, "an")["user_id"]
    sent = world.ben.post(path, {"recipient_id": user, "text": "Ben here."})
    eventually(lambda: "Ben here." in channel.got(), "the agent's words")
    items = world.ben.get(path, recipient_id=user)["items"]
    assert {RETURNS, "Ben here."} <= {row["content"][0]["text"] for row in items}
    (chat,) = world.ann.get("/ai/chats", channel=channel.name)["items"]
    assert chat["assignee"]["name"] == "Ben Fox"

    def has_left() -> bool:
        last = next(row for row in world.history(chat["id"]) if row["id"] == sent["id"])
        return last["status"] in {"sent", "delivered", "read"}

    eventually(has_left, "the status of the agent's words")


def verify(channel: Channel) -> None:
    """The provider asks whether the callback address is ours."""
    query = {
        "hub.mode": "subscribe", "hub.challenge": "1158201444",
        "hub.verify_token": defaults.app(channel.name).verify_token,
    }  # fmt: skip
    path = f"/{channel.name}/webhook"
    assert channel.world.nobody.call("GET", path, params=query).text == "1158201444"
    wrong = query | {"hub.verify_token": "wrong"}
    channel.world.nobody.call("GET", path, params=wrong, status=403)


def consent(channel: Channel) -> None:
    """A person consents in the browser, which returns with a code."""
    ann, path = channel.world.ann, channel.of_bot("connect")
    pending = ann.post(path, {"redirect_uri": HOME})
    back = channel.providers.consent(pending["consent_url"], accounts=[PAGE])
    query = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
    came = ann.post(path, {"redirect_uri": HOME, "code": query["code"], "state": query["state"]})
    assert came["status"] == "pending"


def connect_socialnet(channel: Channel) -> None:
    ann = channel.world.ann
    verify(channel)
    consent(channel)
    assert PAGE in [row["id"] for row in ann.get(channel.of_bot("pages"))["items"]]
    for store in ("/identity/socialnet-access-token", channel.path("user-token")):
        channel.providers.end_tokens(channel="socialnet")
        ann.refused(502, "GET", channel.of_bot("pages"))
        ann.post(store, {"access_token": channel.providers.token("socialnet")})
        assert PAGE in [row["id"] for row in ann.get(channel.of_bot("pages"))["items"]]
    page = {"page_id": PAGE}
    ann.post(channel.of_bot("connect_page"), page)
    assert channel.has("connected")["account_id"] == PAGE
    ann.put(channel.of_bot("disconnect_page"), page)
    channel.has("disconnected")
    ann.put(channel.of_bot("reconnect_page"), page)
    channel.has("connected")
    assert channel.world.events("channel.connected")


def disconnect_socialnet(channel: Channel) -> None:
    channel.world.ann.put(channel.of_bot("disconnect_page"), {"page_id": PAGE})
    channel.has("disconnected")
    assert channel.world.events("channel.disconnected")


def connect_photoapp(channel: Channel) -> None:
    ann = channel.world.ann
    verify(channel)
    consent(channel)
    ann.post(channel.path("user-token"), {"access_token": channel.providers.token("photoapp")})
    assert PHOTO in [row["id"] for row in ann.get(channel.of_bot("accounts"))["items"]]
    ann.post(channel.of_bot("connect_page"), {"page_id": PHOTO})
    (shown,) = ann.get(channel.path("connection"))
    assert (shown["status"], shown["account_id"]) == ("connected", PHOTO)


def disconnect_photoapp(channel: Channel) -> None:
    channel.world.ann.put(channel.of_bot("disconnect"))
    (shown,) = channel.world.ann.get(channel.path("connection"))
    assert shown["status"] == "disconnected"


def connect_localapp(channel: Channel) -> None:
    pending = channel.world.ann.post(channel.of_bot("connect"), {"redirect_uri": HOME})
    back = channel.providers.consent(pending["consent_url"])
    done = channel.world.nobody.call("GET", back)
    assert done.headers["Location"].startswith(HOME)
    assert channel.has("connected")["account_id"] == OA


def disconnect_localapp(channel: Channel) -> None:
    channel.world.ann.put(channel.of_bot("disconnect_page"))
    channel.has("disconnected")


def connect_chatapp(channel: Channel) -> None:
    ann = channel.world.ann
    verify(channel)
    ann.post(channel.path("user-token"), {"access_token": channel.providers.token("chatapp")})
    assert NUMBER in [row["id"] for row in ann.get(channel.of_bot("accounts"))["items"]]
    ann.post(channel.of_bot("connect"), {"phone": {"phone_number_id": NUMBER}})
    assert channel.has("connected")["account_id"] == NUMBER


def send_template(channel: Channel) -> None:
    """An agent sends an approved template; the customer reads its filled text."""
    ben, path = channel.world.ben, channel.of_bot("templates")
    (hello,) = ben.get(path)["items"]
    assert (hello["name"], hello["variables"], hello["problem"]) == ("hello_world", ["1"], None)
    user = channel.providers.thread(channel.account, "an")["user_id"]
    body = {"recipient_id": user, "name": "hello_world", "language": "en_US", "values": ["An"]}
    assert ben.post(path, body)["content"][0]["text"] == "Welcome, An!"
    eventually(lambda: "Welcome, An!" in channel.got(), "the template's words")


def disconnect_chatapp(channel: Channel) -> None:
    send_template(channel)
    channel.world.ann.put(channel.of_bot("disconnect"))
    channel.has("disconnected")


def connect_telegram(channel: Channel) -> None:
    ann, path = channel.world.ann, channel.of_bot("connect")
    ann.refused(422, "POST", path, {"token": f"{BOT}:AAwrong"})
    ann.post(path, {"token": channel.providers.token("telegram", BOT)})
    assert channel.has("connected")["account_id"] == BOT


def disconnect_telegram(channel: Channel) -> None:
    channel.world.ann.put(channel.of_bot("disconnect"))
    channel.has("disconnected")


Step = Callable[[Channel], None]
CHANNELS: tuple[tuple[str, str, Step, Step], ...] = (
    ("socialnet", PAGE, connect_socialnet, disconnect_socialnet),
    ("photoapp", PHOTO, connect_photoapp, disconnect_photoapp),
    ("chatapp", NUMBER, connect_chatapp, disconnect_chatapp),
    ("localapp", OA, connect_localapp, disconnect_localapp),
    ("telegram", BOT, connect_telegram, disconnect_telegram),
)
