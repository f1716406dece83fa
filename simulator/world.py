"""The providers' data: apps, accounts, customers, threads, tokens and codes."""

import base64
import hashlib
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from simulator import defaults

Json = dict[str, Any]
CHANNEL_OF_KIND = {
    "page": "socialnet", "photo": "photoapp", "number": "chatapp", "waba": "chatapp",
    "oa": "localapp", "bot": "telegram",
}  # fmt: skip
OBJECT_OF_KIND = {
    "page": "page",
    "photo": "instagram",
    "number": "whatsapp_business_account",
    "waba": "whatsapp_business_account",
}
HOUR, DAY = 3600.0, 86400.0


class Clock:
    """The providers' clock: the real time, or a fixed time. Both can be advanced."""

    def __init__(self, fixed_at: float | None) -> None:
        self._fixed_at = fixed_at
        self._moved = 0.0

    def now(self) -> float:
        return (time.time() if self._fixed_at is None else self._fixed_at) + self._moved

    def advance(self, secs: float) -> None:
        self._moved += secs


@dataclass
class Hook:
    """An app's webhook for one kind of object, as it is set in the provider's console."""

    url: str
    verify_token: str
    fields: list[str]


@dataclass
class App:
    key: str
    id: str
    secret: str
    hooks: dict[str, Hook]


@dataclass
class Subscription:
    """An app's subscription to the events of an account."""

    fields: list[str]


@dataclass
class Account:
    id: str
    kind: str
    name: str
    parent: str
    username: str
    tasks: list[str]
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    # For a number: whether it is registered, and its pin (any six digits are accepted if empty).
    is_registered: bool = True
    pin: str = ""
    # For localapp: off after a delivery was given up, until the next consent.
    hook_is_on: bool = True
    # For telegram: the URL to which a bot's updates are sent, and the secret sent with them.
    hook_url: str = ""
    hook_secret: str = ""

    @property
    def channel(self) -> str:
        return CHANNEL_OF_KIND[self.kind]


@dataclass
class Customer:
    key: str
    name: str
    phone: str
    hides_number: bool = False


@dataclass
class Message:
    id: str
    by_customer: bool
    at: float
    text: str
    # As it was sent. The customers' page shows attachments, quick replies and buttons from it.
    body: Json
    app_id: str = ""
    metadata: str = ""
    delivered_at: float | None = None
    read_at: float | None = None
    # The error code with which the message failed after a 200; 0 if it did not fail.
    failed_with: int = 0
    reaction: str = ""
    is_deleted: bool = False

    def status(self, now: float) -> str:
        if self.failed_with:
            return "failed"
        if self.read_at is not None and self.read_at <= now:
            return "read"
        has_arrived = self.delivered_at is not None and self.delivered_at <= now
        return "delivered" if has_arrived else "sent"


@dataclass
class Thread:
    id: str
    account: Account
    customer: Customer
    user_id: str
    customer_wrote_at: float | None = None
    messages: list[Message] = field(default_factory=list)
    # Whether the customer blocked the account or left.
    is_gone: bool = False
    typing: bool = False

    def message(self, message_id: str) -> Message | None:
        return next((item for item in self.messages if item.id == message_id), None)

    def seconds_since_customer(self, now: float) -> float:
        return float("inf") if self.customer_wrote_at is None else now - self.customer_wrote_at


@dataclass
class Token:
    """A token. `dead` says why it is no longer accepted: `expired`, `revoked`, `password` or
    `role`; empty while it is accepted."""

    value: str
    kind: str
    app_id: str
    subject: str
    scopes: set[str]
    targets: list[str]
    issued_at: float
    expires_at: float | None = None
    dead: str = ""
    parent: str = ""


@dataclass
class Code:
    value: str
    kind: str
    app_id: str
    subject: str
    redirect_uri: str
    scopes: set[str]
    targets: list[str]
    expires_at: float
    challenge: str = ""
    is_used: bool = False


@dataclass
class Stored:
    """A file at a provider. `url_expires_at` is when its latest URL expires."""

    id: str
    mime: str
    data: bytes
    name: str = ""
    url_expires_at: float = 0.0
    expires_at: float = float("inf")

    @property
    def sha256(self) -> str:
        return base64.b64encode(hashlib.sha256(self.data).digest()).decode()


class World:
    def __init__(self, settings: defaults.Settings) -> None:
        self.settings = settings
        self.lock = threading.RLock()
        self.random = random.Random(settings.seed)
        self.clock = Clock(settings.now)
        self.apps: dict[str, App] = {}
        self._app_ids = {item.key: item.id for item in settings.apps}
        # Bots of telegram belong to no app; this app stands for all of them.
        self.apps["telegram"] = App("telegram", "telegram", "", {})
        for app in settings.apps:
            self._add_app(app)
        self.accounts = {
            account.id: Account(
                account.id,
                account.kind,
                account.name,
                account.parent,
                account.username,
                list(account.tasks),
            )
            for account in defaults.ACCOUNTS
        }
        self.customers = {
            customer.key: Customer(
                customer.key, customer.name, customer.phone, customer.hides_number
            )
            for customer in defaults.CUSTOMERS
        }
        self.threads: dict[tuple[str, str], Thread] = {}
        self.tokens: dict[str, Token] = {}
        self.codes: dict[str, Code] = {}
        self.files: dict[str, Stored] = {}
        # chatapp's message templates, by business account.
        self.templates: dict[str, list[Json]] = {}

    def _add_app(self, each: defaults.DemoApp) -> None:
        """Add an app; if the app exists, since channels share it, add only its webhooks."""
        url = f"{self.settings.callback_base}{each.callback_path}"
        hooks = {name: Hook(url, each.verify_token, []) for name in each.objects or ("localapp",)}
        app = self.apps.setdefault(each.id, App(each.key, each.id, each.secret, {}))
        app.hooks |= hooks

    @property
    def now(self) -> float:
        return self.clock.now()

    def app_by_key(self, key: str) -> App:
        return self.apps[self._app_ids[key]]

    # Accounts and customers

    def of_kind(self, kind: str, parent: str = "") -> list[Account]:
        return [
            account
            for account in self.accounts.values()
            if account.kind == kind and (not parent or account.parent == parent)
        ]

    def photo_of(self, page_id: str) -> Account | None:
        return next(iter(self.of_kind("photo", page_id)), None)

    def customer(self, key: str) -> Customer:
        """The customer with this key, who is created if the key is new."""
        if key not in self.customers:
            phone = "849" + self._digits("phone", key, length=8)
            self.customers[key] = Customer(key, key.replace("_", " ").title(), phone)
        return self.customers[key]

    def _digits(self, *parts: str, length: int) -> str:
        return str(int(hashlib.sha256(":".join(parts).encode()).hexdigest(), 16))[-length:]

    def user_id(self, account: Account, customer: Customer) -> str:
        """The customer's id at this account: at a number, the phone number unless it is hidden; at
        any other account, an id that the customer has only there."""
        if account.kind == "number":
            if customer.hides_number:
                return self.business_user_id(account, customer)
            return customer.phone
        prefix, length = {
            "page": ("61", 14), "photo": ("71", 14), "oa": ("6142", 15), "bot": ("50", 8),
        }[account.kind]  # fmt: skip
        return prefix + self._digits(account.id, customer.key, length=length)

    def business_user_id(self, number: Account, customer: Customer) -> str:
        return "VN." + self._digits(number.parent, customer.key, length=10)

    def user_id_by_app(self, app_id: str, customer: Customer) -> str:
        return "9791" + self._digits(app_id, customer.key, length=15)

    def thread(self, account: Account, customer: Customer) -> Thread:
        user_id = self.user_id(account, customer)
        thread = self.threads.get((account.id, user_id))
        if thread is None:
            thread = Thread(f"t_{1001 + len(self.threads)}", account, customer, user_id)
            self.threads[account.id, user_id] = thread
        return thread

    def known_thread(self, account: Account, user_id: str) -> Thread | None:
        """The thread of an account with the customer who has this id; None if there is none yet."""
        thread = self.threads.get((account.id, user_id))
        if thread is None and account.kind == "number":
            # A customer of chatapp has two ids.
            thread = next(
                (
                    item
                    for item in self.threads_of(account)
                    if self.business_user_id(account, item.customer) == user_id
                ),
                None,
            )
        return thread

    def threads_of(self, account: Account) -> Iterator[Thread]:
        return (thread for thread in list(self.threads.values()) if thread.account is account)

    # Ids

    def random_text(self, length: int) -> str:
        data = self.random.randbytes(length)
        return base64.urlsafe_b64encode(data).decode().rstrip("=")[:length]

    def random_digits(self, length: int) -> str:
        return "".join(self.random.choice("123456789") for _ in range(length))

    def message_id(self, account: Account, user_id: str = "") -> str:
        if account.kind == "page":
            return f"m_{self.random_text(43)}"
        if account.kind == "photo":
            return f"aWdfZAG1faXRlbTox{self.random_text(40)}"
        if account.kind == "oa":
            return self.random.randbytes(10).hex()
        inside = b"\x1d\x18\x0b" + user_id.encode() + b"\x15\x02\x00\x12" + self.random.randbytes(9)
        return "wamid." + base64.b64encode(inside).decode()

    # Tokens and codes

    def issue(
        self,
        kind: str,
        app_id: str,
        subject: str,
        *,
        scopes: set[str],
        targets: list[str],
        lifetime: float | None,
        parent: str = "",
    ) -> Token:
        prefix = {"photo_short": "IGQ", "photo_long": "IGQ", "access": "", "refresh": ""}
        value = prefix.get(kind, "EAA") + self.random_text(60)
        ends_at = None if lifetime is None else self.now + lifetime
        token = Token(
            value, kind, app_id, subject, set(scopes), list(targets), self.now, ends_at,
            parent=parent,
        )  # fmt: skip
        self.tokens[value] = token
        return token

    def kill(self, token: Token, why: str) -> None:
        """End a token and all tokens derived from it."""
        token.dead = token.dead or why
        for other in self.tokens.values():
            if other.parent == token.value and not other.dead:
                self.kill(other, why)

    def bot_token(self, account: Account) -> str:
        """The latest token of a bot; a new token if the bot has none or the latest was revoked."""
        own = [token for token in self.tokens.values() if token.subject == account.id]
        if own and not own[-1].dead:
            return own[-1].value
        value = f"{account.id}:AA{self._digits('token', account.id, str(len(own)), length=33)}"
        self.tokens[value] = Token(value, "bot", "telegram", account.id, set(), [], self.now)
        return value

    def bot_of(self, value: str) -> Account | None:
        """The bot of a token; None if the token is not accepted."""
        token = self.tokens.get(value)
        is_live = token is not None and token.kind == "bot" and not token.dead
        return self.accounts[token.subject] if token and is_live else None

    def templates_of(self, waba_id: str) -> list[Json]:
        """The message templates of a business account, which always has one, `hello_world`."""
        hello: Json = {
            "id": "1594823412345678", "name": "hello_world", "language": "en_US",
            "status": "APPROVED", "category": "UTILITY",
            "components": [{"type": "BODY", "text": "Welcome, {{1}}!"}],
        }  # fmt: skip
        return self.templates.setdefault(waba_id, [hello])

    def store(self, data: bytes, mime: str, *, name: str = "", lifetime: float = DAY) -> Stored:
        stored = Stored(self.random_digits(15), mime, data, name, expires_at=self.now + lifetime)
        self.files[stored.id] = stored
        return stored
