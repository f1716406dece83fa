"""Guards over every served operation: who may call it, and what it answers to a wrong request."""

import functools
import io
import json
import re
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core import signing
from django.core.files.base import ContentFile
from django.utils import timezone
from django.utils.module_loading import import_string

from bots.testing import make_bot
from chatplatform.api.access import PUBLIC, Access
from chatplatform.api.operation import Form, routes
from identity.models import Role
from identity.testing import PASSWORD, Person, make_key, make_person

# Everything that is served: what the document promises, operation by operation.
SERVED = """
AI / chat    | Assign Chat                                    | POST   | /ai/chat/{chat_id}/assign
AI / chat    | Chat Unassign                                  | POST   | /ai/chat/{chat_id}/unassign
AI / chat    | Manual Chat                                    | POST   | /ai/chat/{chat_id}/manual
AI / chat    | Get Chat History                               | GET    | /ai/chat/{chat_id}/history
AI / chat    | Get Chat History                               | GET    | /ai/chat/history/customer/{customer_id}
AI / chat    | Get Chat History                               | GET    | /ai/{bot_id}/chat-history
AI / chat    | Get Chats                                      | GET    | /ai/chats
AI / chat    | End A Chat By Id                               | POST   | /ai/chat/{chat_id}/end
AI / chat    | Agent End A Chat By Id                         | POST   | /ai/chat/{chat_id}/agent-end
AI / chat    | Snooze Chat                                    | POST   | /ai/chat/{chat_id}/snooze
AI / chat    | Mark Chat As Read                              | POST   | /ai/chat/{chat_id}/read
AI / chat    | Get Assign Notification                        | GET    | /ai/chat/notifications
AI / chat    | Mark Notification As Read By Notification Id   | PUT    | /ai/chat/notifications/{notification_id}/read
AI / chat    | Chat Events                                    | GET    | /ai/chat/events
AI / chat    | Create Chat Events Ticket                      | POST   | /ai/chat/events/ticket
AI / chat    | Set Typing                                     | POST   | /ai/chat/{chat_id}/typing
AI / client  | Create new chat conversation                   | POST   | /ai/client/chat
AI / client  | Send message in existing chat conversation      | POST   | /ai/client/chat/{chat_id}
AI / client  | Get chat conversation history                  | GET    | /ai/client/chat/history/{chat_id}
AI / client  | Delete All Documents                           | DELETE | /ai/client/documents
AI / client  | Generate intelligent reply suggestions for chat conversation | POST | /ai/client/chat/suggestions/{chat_id}
AI / client  | Multi-language text translation                | POST   | /client/translate
AI / client  | AI translation API                             | POST   | /ai/translate
AI / client  | Intelligent content summarization with AI      | POST   | /client/summarize
AI / chat    | Chat Summary Calculate                         | POST   | /ai/chat/summary/calculate
AI / chat    | Chat Summary Calculate                         | GET    | /ai/chat/summary/calculate/{job_id}
AI / chat    | Summarize Chat By Id                           | POST   | /ai/chat/{chat_id}/summarize
AI / chat    | Get Client Tags                                | GET    | /ai/tags
AI / chat    | Create Tags For Chat                           | POST   | /ai/chat/{chat_id}/tags
AI / chat    | Update Tags For Chat                           | PUT    | /ai/chat/{chat_id}/tags
AI / chat    | Auto Generate Tag With Ai                      | POST   | /ai/chat/{chat_id}/tags/auto
AI / chat    | Auto Generate Tag With Ai Temp                 | POST   | /ai/chat/{chat_id}/tags/auto-temp
AI / chat    | Generate Sentiment Manual                      | POST   | /ai/chat/{chat_id}/sentiment
AI / chat    | Create Chat Feed Back                          | POST   | /ai/chat/{chat_id}/feedback
AI / chat    | Get Chat Feedbacks                             | GET    | /ai/chat/feedbacks
AI / chat    | Generate Chat                                  | POST   | /ai/{bot_id}/generate-chat
AI / chat    | Generate Chat                                  | POST   | /ai/chat/{chat_id}/generate
AI / client  | Update customer information in chat conversation | POST | /ai/client/chat/customer/{chat_id}
AI / client  | Send message with files in chat conversation   | POST   | /ai/client/chat/files/{chat_id}
AI / client  | Send assistant reply message in chat conversation | POST | /ai/client/chat/assistant/{chat_id}
AI / client  | Generate automatic AI response                 | POST   | /ai/client/chat/auto-response/{chat_id}
AI / client  | Get chat conversation list                     | GET    | /ai/client/chats
AI / client  | Migration tool - Migrate chat messages         | GET    | /ai/client/migrate/messages
AI / client  | Migration tool - Migrate chat conversations    | GET    | /ai/client/migrate/conversations
AI / client  | Get chat conversation history with customer information | GET | /ai/client/chat/history-with-customer/{chat_id}
AI / client  | Get messages by chat conversation code         | GET    | /ai/client/chat/messages/{chat_code}
AI / client  | Download Attachment                            | GET    | /ai/attachment/{attachment_id}
messaging    | Create Message                                 | POST   | /mesaging/conversations/{conversation_id}/messages
messaging    | List Messages                                  | GET    | /mesaging/conversations/{conversation_id}/messages
messaging    | Create Conversation                            | POST   | /mesaging/conversations
messaging    | List Conversations                             | GET    | /mesaging/conversations
messaging    | End Conversation                               | PUT    | /mesaging/conversations/{conversation_id}/end
messaging    | Get Conversation Summary                       | GET    | /mesaging/conversations/{conversation_id}/summary
messaging    | Get Conversation Ai Tags                       | GET    | /mesaging/conversations/{conversation_id}/ai-tags
AI / train   | Create Prompt                                  | POST   | /ai/{bot_id}/train/prompt
AI / train   | Get Current Prompt                             | GET    | /ai/{bot_id}/train/prompt
AI / train   | Upload Files                                   | POST   | /ai/{bot_id}/train/document
AI / train   | Delete Document By Id                          | DELETE | /ai/{bot_id}/train/document/{document_id}
AI / train   | Get Files                                      | GET    | /ai/{bot_id}/train/document
AI / train   | Add Web Url                                    | POST   | /ai/{bot_id}/train/web-url
AI / train   | Update Web Url By Id                           | PUT    | /ai/{bot_id}/train/web-url/{web_url_id}
AI / train   | Get Web Urls                                   | GET    | /ai/{bot_id}/train/web-url
AI / train   | Delete Web Url By                              | DELETE | /ai/{bot_id}/train/web-url/{web_url_id}
AI / train   | Set Important Document                         | PUT    | /ai/{bot_id}/train/document/{document_id}/important
AI / train   | Reupload Files                                 | POST   | /ai/{bot_id}/train/document/reupload
AI / train   | Update Customer Info Field                     | PUT    | /ai/{bot_id}/customer-info-field
AI / train   | Get Customer Info Field                        | GET    | /ai/{bot_id}/customer-info-field
AI / train   | Update Client Customer Welcome Message Route   | PUT    | /ai/{bot_id}/welcome-message
AI / train   | Get Client Customer Welcome Message Route      | GET    | /ai/{bot_id}/welcome-message
AI / train   | Upload Banner Image Route                      | POST   | /ai/{bot_id}/upload-banner-image
AI / train   | Get Bot Banner Route                           | GET    | /ai/{bot_id}/banner
AI / train   | Get Bot Banner Route                           | GET    | /ai/banner
bot          | Get All Bot                                    | GET    | /ai/bot
bot          | Get Bot By Id                                  | GET    | /ai/bot/{bot_id}
bot          | Create Bot                                     | POST   | /ai/bot
bot          | Update Bot                                     | PUT    | /ai/bot/{bot_id}/update-bot
config       | Getclientchatconfigrouter                      | GET    | /config/{client_id}/chat
config       | Updateclientchatconfigrouter                   | POST   | /config/{client_id}/chat
bot          | Get Config By Api Key With Auth                | GET    | /ai/bot/config
bot          | Toggle Disable Bot                             | PUT    | /ai/bot/{bot_id}/toggle-disable
bot          | Delete Bot                                     | DELETE | /ai/bot/{bot_id}
bot          | Get Bot Sample Questions                       | GET    | /ai/bot/{bot_id}/sample-questions
bot          | Update Bot Sample Questions                    | PUT    | /ai/bot/{bot_id}/sample-questions
function-calling | Get Function Calling Config                | GET    | /function-calling/{bot_id}
function-calling | Upsert Function Calling Config             | POST   | /function-calling/{bot_id}
function-calling | Get Function Calling Events                | GET    | /function-calling/{bot_id}/events
function-calling | Decide Function Call                       | POST   | /function-calling/{bot_id}/events/{call_id}/decision
identity     | Get Client Info                                | GET    | /identity/client
identity     | Login For Access Token2                        | POST   | /identity/token2
identity     | Read Users Me                                  | GET    | /identity/users/me
identity     | Register Trial                                 | POST   | /identity/register-trial
identity     | Revoke Token                                   | POST   | /identity/revoke
identity     | List Api Keys                                  | GET    | /identity/api-keys
identity     | Create Api Key                                 | POST   | /identity/api-keys
identity     | Revoke Api Key                                 | DELETE | /identity/api-keys/{api_key_id}
identity     | Get Subscription                               | GET    | /identity/subscription
identity     | Top Up                                         | POST   | /identity/subscription/top-up
identity     | Add Socialnet Access Token                     | POST   | /identity/socialnet-access-token
identity     | Create Client User                             | POST   | /identity/users
identity     | Get My Company Users                           | GET    | /identity/users
identity     | Update User Disable Flag                       | PUT    | /identity/users/{user_id}/disable
identity     | Reset User Password                            | PUT    | /identity/users/{user_id}/reset-password
identity     | Update User Role                               | PUT    | /identity/users/{user_id}/role
identity     | Get Client Config Languages                    | GET    | /identity/languages
identity     | Get Client Config Languages By Api Key         | GET    | /identity/languages/by-api-key
identity     | Forgot Password                                | POST   | /identity/forgot-password
identity     | Verify Reset Token                             | POST   | /identity/verify-reset-token
identity     | Reset Password                                 | POST   | /identity/reset-password
config       | Update Email Notification                      | POST   | /config/{client_id}/email-notification
Webhook      | Get Webhook Config                             | GET    | /webhook/config
Webhook      | Create Webhook Config                          | POST   | /webhook/config
Webhook      | Test Webhook                                   | POST   | /webhook/test
Webhook      | Get Webhook Events                             | GET    | /webhook/events
Webhook      | Replay Webhook Event                           | POST   | /webhook/events/{event_id}/replay
Webhook      | Rotate Webhook Secret                          | POST   | /webhook/config/rotate-secret
Webhook      | List Webhook Configs                           | GET    | /webhook/configs
Webhook      | Update Webhook Config                          | PUT    | /webhook/config/{config_id}
Webhook      | Delete Webhook Config                          | DELETE | /webhook/config/{config_id}
Webhook      | Get Webhook Event                              | GET    | /webhook/events/{event_id}
Webhook      | Replay Webhook Events                          | POST   | /webhook/replay
Check Health | Check Health                                   | GET    | /health
Check Health | Live                                           | GET    | /health/live
"""  # noqa: E501 - a table

PUBLIC_BECAUSE = {
    ("POST", "/identity/register-trial"): "a company that registers has no credential yet",
    ("POST", "/identity/token2"): "signing in is how a credential is had; failures are counted",
    ("GET", "/ai/attachment/{attachment_id}"): "the link's signature is the credential",
    ("POST", "/identity/forgot-password"): "whoever forgot his password has no other credential",
    ("POST", "/identity/verify-reset-token"): "the mailed token is the credential; tries count",
    ("POST", "/identity/reset-password"): "the mailed token is the credential; tries count",
    ("GET", "/health"): "monitors ask it; it names no hosts and no clients",
    ("GET", "/health/live"): "monitors ask it; it says nothing but that the process answers",
}

# What the owner is refused as well, for the rows of `rows_of` stand in the way.
CONFLICT_BECAUSE = {("DELETE", "/ai/bot/{bot_id}"): "a bot with conversations is not deleted"}

# One white pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63f80f00"
    "01010100b138f6140000000049454e44ae426082"
)
VIEWER_MAY_BECAUSE = {
    ("POST", "/identity/revoke"): "signing out is one's own affair",
    ("POST", "/ai/chat/events/ticket"): "it opens the feed, which a viewer may read",
}

TOMORROW = (timezone.now() + timedelta(days=1)).isoformat()
# A body that is accepted, for every operation that takes one.
REGISTRATION = {
    "company_name": "Delta", "full_name": "Dan Moss", "email": "dan@delta.example",
    "password": PASSWORD,
}  # fmt: skip
ACCEPTED: dict[tuple[str, str], Any] = {
    ("POST", "/ai/bot"): {"bot_name": "Second"},
    ("PUT", "/ai/bot/{bot_id}/update-bot"): {"bot_name": "Renamed"},
    ("POST", "/ai/{bot_id}/train/prompt"): {"content": "Be kind."},
    ("POST", "/ai/{bot_id}/train/document"): {"files": ("hours.txt", b"Open from nine to five.")},
    ("POST", "/ai/{bot_id}/train/web-url"): {"url": "https://93.184.215.14/help"},
    ("PUT", "/ai/{bot_id}/train/web-url/{web_url_id}"): {"refresh_hours": 24},
    ("PUT", "/ai/{bot_id}/train/document/{document_id}/important"): {"is_important": True},
    ("POST", "/ai/{bot_id}/train/document/reupload"): {"document_ids": [1]},
    ("PUT", "/ai/{bot_id}/customer-info-field"): {
        "fields": [{"name": "city", "label": {"en": "City"}, "type": "text"}]
    },
    ("PUT", "/ai/{bot_id}/welcome-message"): {"messages": {"en": "Hello"}},
    ("POST", "/ai/{bot_id}/upload-banner-image"): {"file": ("banner.png", PNG)},
    ("PUT", "/ai/bot/{bot_id}/toggle-disable"): {"is_disabled": True},
    ("PUT", "/ai/bot/{bot_id}/sample-questions"): {"questions": [{"question": "Open on Sunday?"}]},
    ("POST", "/ai/client/chat"): {"customer": {"name": "Zoe"}},
    ("POST", "/ai/client/chat/{chat_id}"): {"text": "Hello", "reply": "none"},
    ("POST", "/function-calling/{bot_id}"): {"is_enabled": True, "functions": []},
    ("POST", "/function-calling/{bot_id}/events/{call_id}/decision"): {"approve": False},
    ("POST", "/ai/chat/{chat_id}/typing"): {"is_typing": True},
    ("POST", "/ai/chat/{chat_id}/assign"): {"assign_type": "agent"},
    ("POST", "/ai/chat/{chat_id}/manual"): {"text": "Hello"},
    ("POST", "/ai/chat/{chat_id}/snooze"): {"until": TOMORROW},
    ("POST", "/ai/client/chat/suggestions/{chat_id}"): {"count": 2},
    ("POST", "/client/translate"): {"text": "Hello", "out_lang_code": "vi"},
    ("POST", "/ai/translate"): {"text": "Hello", "out_lang_code": "vi"},
    ("POST", "/client/summarize"): {"text": "We open at nine. We close at five."},
    ("POST", "/ai/chat/summary/calculate"): {"force": True},
    ("POST", "/ai/chat/{chat_id}/tags"): {"tags": ["refund"]},
    ("PUT", "/ai/chat/{chat_id}/tags"): {"tags": ["refund"]},
    ("POST", "/ai/chat/{chat_id}/feedback"): {"rating": 5},
    ("POST", "/ai/{bot_id}/generate-chat"): {"messages": [{"role": "user", "content": "Hello"}]},
    ("POST", "/ai/chat/{chat_id}/generate"): {"stream": False},
    ("POST", "/ai/client/chat/customer/{chat_id}"): {"name": "Zoe"},
    ("POST", "/ai/client/chat/files/{chat_id}"): {"files": ("a.txt", b"Hello"), "reply": "none"},
    ("POST", "/ai/client/chat/assistant/{chat_id}"): {"text": "Hello"},
    ("POST", "/mesaging/conversations/{conversation_id}/messages"): {
        "sender": {"type": "customer"}, "text": "Hello",
    },
    ("POST", "/mesaging/conversations"): {"requester": {"external_id": "c-1"}},
    ("POST", "/identity/register-trial"): REGISTRATION,
    ("POST", "/identity/api-keys"): {"name": "Server", "scope": "secret"},
    ("POST", "/identity/token2"): {"grant_type": "password", "username": "a@b.example",
                                   "password": PASSWORD},
    ("POST", "/identity/subscription/top-up"): {"amount": 500, "reference": "INV-1"},
    ("POST", "/config/{client_id}/chat"): {"agent_capacity": 7},
    ("POST", "/identity/socialnet-access-token"): {"access_token": "EAAG", "expires_in": 3600},
    ("POST", "/identity/users"): {"email": "eve@delta.example", "full_name": "Eve Fox"},
    ("PUT", "/identity/users/{user_id}/disable"): {"is_disabled": True},
    ("PUT", "/identity/users/{user_id}/reset-password"): {"password": PASSWORD},
    ("PUT", "/identity/users/{user_id}/role"): {"role": "viewer"},
    ("POST", "/identity/forgot-password"): {"email": "a@b.example"},
    ("POST", "/identity/verify-reset-token"): {"token": "x" * 43},
    ("POST", "/identity/reset-password"): {"token": "x" * 43, "new_password": PASSWORD},
    ("POST", "/config/{client_id}/email-notification"): {"recipients": ["a@b.example"]},
    ("POST", "/webhook/config"): {"url": "https://93.184.215.14/hook"},
    ("PUT", "/webhook/config/{config_id}"): {"url": "https://93.184.215.14/hook"},
    ("POST", "/webhook/replay"): {"created_from": "2999-01-01T00:00:00Z"},
}  # fmt: skip

DEEP = 100_000
MALFORMED = {
    "bad JSON": b'{"name": ',
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "list instead of object": b"[]",
    "string instead of object": b'"hello"',
    "null": b"null",
    "NUL": b'{"name": "a\\u0000b"}',
    "NUL as a key": b'{"a\\u0000b": 1}',
    "lone surrogate": b'{"name": "\\ud800"}',
    "nested arrays": b"[" * DEEP + b"]" * DEEP,
    "nested objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "empty": b"",
    "huge integer": b'{"id": ' + b"9" * 5000 + b"}",
    "infinite number": b'{"id": 1e999}',
    "not a number": b'{"id": NaN}',
    "2 MB": b'{"name": "' + b"x" * 2_000_000 + b'"}',
}
# What takes the place of each field of an accepted body in turn.
WRONG_VALUES = ["a\x00b", 10**30, -(2**63) - 1, [[]] * 20, {"a": {"b": [None]}}, None, "x" * 9000]
# Positions that none of our lists would sign.
WRONG_POSITIONS = [[], ["x"], [10**30], [1, 2], ["a", "b"], [None], [{"a": 1}], ["\x00"]]


@dataclass(frozen=True)
class Served:
    """A served operation with its path as the document spells it."""

    method: str
    path: str
    declared: Any

    @property
    def ids(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.path)

    @property
    def at(self) -> tuple[str, str]:
        return self.method, self.path

    def fill(self, ids: dict[str, Any]) -> str:
        return self.path.format(**{name: ids[name] for name in self.ids})

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


ALL = [Served(m, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path), d) for m, path, d in routes()]
CLOSED = [one for one in ALL if one.declared.access is not PUBLIC]
WITH_ID = [one for one in ALL if one.ids]
WITH_BODY = [one for one in ALL if one.declared.body]
WITH_QUERY = [one for one in ALL if one.declared.query]
each = functools.partial(pytest.mark.parametrize, "served", ids=str)


def send(who: Person, served: Served, ids: dict[str, Any], body: Any = None) -> Any:
    """An accepted request to the operation, or one with `body` in place of the accepted one."""
    path, method = served.fill(ids), served.method.lower()
    given: Any = ACCEPTED.get(served.at) if body is None else body
    if not isinstance(served.declared.body, Form):
        raw = b"" if given is None else json.dumps(given).encode()
        return raw_call(who, served, path, raw, "application/json")
    assert given is not None
    if _media_type(served) == "multipart/form-data":
        return getattr(who.browser, method)(
            path, {name: _part(value) for name, value in given.items()}, headers=who.headers
        )
    text = "&".join(f"{name}={value}" for name, value in given.items())
    return raw_call(who, served, path, text.encode("utf-8", "replace"), _media_type(served))


def _part(value: Any) -> Any:
    if isinstance(value, tuple):
        part = io.BytesIO(value[1])
        part.name = value[0]
        return part
    return value if isinstance(value, (str, int)) else json.dumps(value)


def _media_type(served: Served) -> str:
    body = served.declared.body
    return body.media_types[0] if isinstance(body, Form) else "application/json"


def raw_call(who: Person, served: Served, path: str, raw: bytes, media_type: str) -> Any:
    return who.browser.generic(served.method, path, raw, content_type=media_type,
                               headers=who.headers)  # fmt: skip


def is_error(reply: Any, status: int) -> bool:
    """In the documented shape of an error, about this request."""
    body = reply.json()
    return (
        reply.status_code == status
        and reply["Content-Type"] == "application/json"
        and {"detail", "code", "request_id"} <= set(body)
        and all(isinstance(body[name], str) for name in ("detail", "code", "request_id"))
        and body["request_id"] == reply["X-Request-ID"]
    )


def rows_of(owner: Person, key: Person) -> dict[str, Any]:
    """One of each thing that a path names, of the owner's client."""
    client = owner.client
    bot = make_bot(client)
    import_string("bots.models.Prompt").objects.create(
        client=client, bot=bot, version=1, content="Be kind."
    )
    document = import_string("bots.models.Document").objects.create(
        client=client, bot=bot, file=ContentFile(b"x", name="x.txt"), file_name="x.txt",
        mime_type="text/plain", size_bytes=1, sha256=uuid.uuid4().hex * 2,
    )  # fmt: skip
    web_url = import_string("bots.models.WebUrl").objects.create(
        client=client, bot=bot, url="https://93.184.215.14/"
    )
    customer = import_string("chats.models.Customer").objects.create(client=client, name="Zoe")
    chat = import_string("chats.models.Conversation").objects.create(
        client=client, bot=bot, customer=customer, opened_by_key=key.key, language="en"
    )
    call = import_string("bots.models.FunctionCall").objects.create(
        client=client, bot=bot, function_name="refund", status="waiting", requires_approval="agent",
    )  # fmt: skip
    notification = import_string("chats.models.Notification").objects.create(
        client=client, user=owner.user, conversation=chat, kind="assigned"
    )
    said = import_string("chats.models.Message").objects.create(
        client=client, conversation=chat, seq=1, sender_type="customer", content=[]
    )
    import_string("chats.models.Conversation").objects.filter(pk=chat.pk).update(last_seq=1)
    attachment = import_string("chats.models.Attachment").objects.create(
        client=client, conversation=chat, message=said, file=ContentFile(b"x", name="x.txt"),
        file_name="x.txt", mime_type="text/plain", size_bytes=1,
    )  # fmt: skip
    import_string("chats.models.Summary").objects.create(
        client=client, conversation=chat, summary="Hello", language="en", message_count=1,
        engine="embedded",
    )  # fmt: skip
    summary_job = import_string("chats.models.SummaryJob").objects.create(client=client)
    config = import_string("webhooks.models.WebhookConfig").objects.create(
        client=client, url="https://93.184.215.14/hook",
        secret=import_string("webhooks.delivery.new_secret")(),
    )  # fmt: skip
    event = import_string("webhooks.services.announce")(client.pk, "message.created", {})
    return {
        "config_id": config.pk,
        "event_id": f"evt_{event.pk.hex}",
        "job_id": summary_job.pk,
        "bot_id": bot.pk,
        "call_id": call.pk,
        "customer_id": customer.pk,
        "notification_id": notification.pk,
        "document_id": document.pk,
        "web_url_id": web_url.pk,
        "chat_id": chat.pk,
        "conversation_id": chat.pk,
        "chat_code": chat.chat_code,
        "attachment_id": attachment.pk,
        "api_key_id": make_key(client).key.pk,  # type: ignore[union-attr]
        "client_id": client.pk,
        "user_id": make_person(client, Role.AGENT, "Abe").user.pk,  # type: ignore[union-attr]
    }


MISSING: dict[str, Any] = {
    "bot_id": 999_999_999, "document_id": 999_999_999, "api_key_id": 999_999_999,
    "web_url_id": 999_999_999,
    "client_id": 999_999_999, "user_id": 999_999_999,
    "chat_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "conversation_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "attachment_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "chat_code": "NO-SUCH-CODE",
    "call_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "customer_id": 999_999_999, "notification_id": uuid.UUID(int=7 << 76 | 2 << 62 | 2),
    "job_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "config_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1), "event_id": f"evt_{1:032x}",
}  # fmt: skip


def needs_model(reply: Any) -> bool:
    """The tests set no model, and nothing else than a model could do it."""
    code: str = reply.json()["code"] if reply.status_code == 503 else ""
    return code == "engine_not_configured"


def callers(access: Access, person: Person, key: Person) -> list[Person]:
    """Whoever of the two the operation admits."""
    found = {"bearer": person, "api_key": key}
    return [found[scheme] for scheme in access.security]


@pytest.fixture
def ann_key(ann):
    return make_key(ann.client)


@pytest.fixture
def ours(ann, ann_key):
    return rows_of(ann, ann_key)


@pytest.fixture
def cara_key(cara):
    return make_key(cara.client)


@pytest.fixture
def theirs(cara, cara_key):
    return rows_of(cara, cara_key)


def test_served_operations_equal_the_table():
    promised = [
        tuple(part.strip() for part in line.split("|")) for line in SERVED.strip().splitlines()
    ]
    assert len(promised) > 20
    found = [(one.declared.tag, one.declared.name, *one.at) for one in ALL]
    assert sorted(found) == sorted(promised)


def test_access_is_declared_and_public_only_with_a_reason():
    assert ALL
    assert all(isinstance(one.declared.access, Access) for one in ALL)
    assert {one.at for one in ALL if not one.declared.access.security} == set(PUBLIC_BECAUSE)
    assert {one.at for one in ALL if one.declared.access is PUBLIC} == set(PUBLIC_BECAUSE)
    assert all(PUBLIC_BECAUSE.values())


def test_tables_name_what_is_served():
    assert WITH_ID
    assert WITH_BODY
    assert WITH_QUERY
    assert set(ACCEPTED) == {one.at for one in WITH_BODY}
    assert set(MISSING) == {name for one in WITH_ID for name in one.ids}


@each(ALL)
def test_trailing_slash_makes_no_difference(served, nobody, ann, ann_key, ours):
    asking = served.method == "GET"
    path = served.fill(ours)
    # What changes something is asked without a credential: the refusal proves that it is there.
    for caller in (asking and callers(served.declared.access, ann, ann_key)) or [nobody]:
        without, slashed = (
            raw_call(caller, served, path + slash, b"", "application/json") for slash in ("", "/")
        )
        assert without.status_code == slashed.status_code
        assert without.status_code not in {301, 302, 307, 308, 404, 405}


@each(CLOSED)
def test_401_without_a_credential(served, nobody, ours):
    reply = send(nobody, served, ours)
    assert is_error(reply, 401)
    assert reply["WWW-Authenticate"] in {"Bearer", "API-KEY"}


@each(CLOSED)
def test_401_with_a_worthless_credential(served, ours):
    liar = Person({"Authorization": "Bearer a.b.c", "API-KEY": "cp_wrong.\u00e9"})
    assert is_error(send(liar, served, ours), 401)


@each([one for one in CLOSED if one.method != "GET"])
def test_403_to_a_viewer_who_writes(served, ann, ours):
    vic = make_person(ann.client, Role.VIEWER, "Vic")
    if "bearer" not in served.declared.access.security:
        assert is_error(send(vic, served, ours), 401)
    elif served.at in VIEWER_MAY_BECAUSE:
        assert send(vic, served, ours).status_code < 300
    else:
        assert is_error(send(vic, served, ours), 403)


@each(WITH_ID)
def test_404_to_another_client(served, ann, ann_key, ours, cara, cara_key, theirs):
    for stranger in callers(served.declared.access, cara, cara_key):
        for name in served.ids:
            # Only this id is foreign: one's own bot must not open another's document.
            foreign = send(stranger, served, {**theirs, name: ours[name]})
            missing = send(stranger, served, {**theirs, name: MISSING[name]})
            assert is_error(foreign, 404), foreign.content
            assert is_error(missing, 404)
            assert without_request_id(foreign) == without_request_id(missing)
    for owner in callers(served.declared.access, ann, ann_key):
        # Rows of its own for each: what one caller has ended, the other could not end again.
        own = rows_of(ann, ann_key)
        reply = send(owner, served, own)
        if served.at in CONFLICT_BECAUSE:
            assert reply.status_code == 409
        else:
            assert reply.status_code < 300 or needs_model(reply), "the request was wrong in itself"


def without_request_id(reply: Any) -> dict[str, Any]:
    body: dict[str, Any] = reply.json()
    body.pop("request_id")
    return body


@each([one for one in WITH_ID if not {"chat_id", "notification_id"} & set(one.ids)])
def test_404_for_an_id_beyond_every_row(served, ann, ann_key, ours):
    for caller in callers(served.declared.access, ann, ann_key):
        for name in served.ids:
            for beyond in (2**63, 10**30):
                assert is_error(send(caller, served, {**ours, name: beyond}), 404)


@each(WITH_BODY)
def test_4xx_json_to_malformed_bodies(served, ann, ann_key, ours):
    caller = (callers(served.declared.access, ann, ann_key) or [Person()])[0]
    path, media_type = served.fill(ours), _media_type(served)
    cases = [(name, raw, media_type) for name, raw in MALFORMED.items()]
    if media_type == "multipart/form-data":
        cases += [
            ("no such boundary", b"--x\r\n", "multipart/form-data; boundary=y"),
            ("broken off", b"--x\r\nContent-Disp", "multipart/form-data; boundary=x"),
            ("boundary too long", b"--x", "multipart/form-data; boundary=" + "x" * 300),
        ]
    cases += [
        ("wrong content type", b"{}", "text/plain"),
        ("wrong content type", b"{}", "application/xml"),
        ("no content type", b"a=1", "application/octet-stream"),
        ("unknown charset", b"\xff", f"{media_type}; charset=no-such"),
    ]
    for name, raw, sent_as in cases:
        if name == "empty" and served.declared.body_is_optional:
            continue
        reply = raw_call(caller, served, path, raw, sent_as)
        assert 400 <= reply.status_code < 500, f"{name}: {reply.status_code}"
        assert reply["Content-Type"] == "application/json", name
        assert reply.json(), name


@each(WITH_BODY)
def test_no_500_to_a_wrong_field(served, ann, ann_key, ours):
    caller = (callers(served.declared.access, ann, ann_key) or [Person()])[0]
    body = served.declared.body
    shape = body.shape if isinstance(body, Form) else body
    assert shape.model_fields
    for name in shape.model_fields:
        for wrong in WRONG_VALUES:
            reply = send(caller, served, ours, {**ACCEPTED[served.at], name: wrong})
            assert reply.status_code < 500 or needs_model(reply), (name, wrong)
            # A held answer is written by the real server; here it has no content yet.
            kinds = {"application/json"} if reply.content else {None, "application/json"}
            assert reply.get("Content-Type") in kinds


def ask(who: Person, served: Served, path: str, query: dict[str, Any]) -> Any:
    """The operation with a query string, whatever its method."""
    return who.browser.generic(
        served.method, path, QUERY_STRING=urlencode(query, doseq=True), headers=who.headers
    )


@each(WITH_QUERY)
def test_422_to_a_wrong_query(served, ann, ann_key, ours, monkeypatch):
    # Signed for any list, so that what is behind the signature is tried as well.
    monkeypatch.setattr("chatplatform.api.pagination._salt", lambda *_: "any")
    signed = [signing.dumps(position, salt="any") for position in WRONG_POSITIONS]
    for caller in callers(served.declared.access, ann, ann_key):
        path = served.fill(ours)
        for wrong in ({"no": "1"}, {"limit": "0"}, {"limit": "9" * 30}, {"limit": ["1", "2"]}):
            assert ask(caller, served, path, wrong).status_code == 422, wrong
        for cursor in ["", "\x00", "nonsense", *signed]:
            reply = ask(caller, served, path, {"cursor": cursor})
            assert reply.status_code < 500, cursor
            assert reply["Content-Type"] == "application/json"
