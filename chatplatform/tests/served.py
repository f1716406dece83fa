"""Every served operation, an accepted request to each, and rows for the ids in their paths."""

import functools
import hmac
import io
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from bots.models import (
    Bot,
    Document,
    FunctionCall,
    GoldenQuestion,
    GoldenRun,
    McpServer,
    Prompt,
    SampleQuestion,
    WebUrl,
)
from bots.testing import make_bot
from channels_app.models import ChannelChat, ChannelConnection, CustomerIdentity
from channels_app.providers import PROVIDERS
from chatplatform.api.operation import PUBLIC, Access, Form, routes
from chatplatform.signatures import new_secret
from chats.models import (
    Attachment,
    ClientTag,
    Conversation,
    Customer,
    CustomerErasure,
    GroupedQuestion,
    Message,
    Notification,
    PushSubscription,
    QuestionGroup,
    Replay,
    SavedReply,
    Summary,
    SummaryJob,
)
from identity.models import (
    ChannelAccessToken,
    Client,
    EmailNotification,
    Role,
    SavedView,
    SignInProvider,
)
from identity.services import credit_orders
from identity.testing import PASSWORD, Person, make_key, make_person
from reports.models import Export
from webhooks.models import WebhookConfig
from webhooks.services import announce

# One white pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63f80f00"
    "01010100b138f6140000000049454e44ae426082"
)
TOMORROW = (timezone.now() + timedelta(days=1)).isoformat()
# The browser's keys of RFC 8291's example.
PUSH: dict[str, Any] = {
    "endpoint": "https://push.example/8f2c",
    "keys": {
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6S"
        "RpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    },
}
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
    ("POST", "/ai/{bot_id}/train/text"): {"title": "Hours", "text": "Open from nine to five."},
    ("PUT", "/ai/{bot_id}/train/text/{text_id}"): {"title": "Hours", "text": "Open from nine."},
    ("POST", "/ai/{bot_id}/train/question-answer"): {"question": "Dogs?", "answer": "Welcome."},
    ("PUT", "/ai/{bot_id}/train/question-answer/{question_answer_id}"): {
        "question": "Open on Sunday?", "answer": "Closed."
    },
    ("POST", "/ai/{bot_id}/train/web-url"): {"url": "https://93.184.215.14/help"},
    ("PUT", "/ai/{bot_id}/train/web-url/{web_url_id}"): {"refresh_hours": 24},
    ("PUT", "/ai/{bot_id}/train/document/{document_id}/important"): {"is_important": True},
    ("POST", "/ai/{bot_id}/train/document/reupload"): {"document_ids": [1]},
    ("POST", "/ai/{bot_id}/golden-questions"): {"question": "Dogs allowed?"},
    ("PUT", "/ai/{bot_id}/golden-questions/{golden_question_id}"): {"question": "Cats allowed?"},
    ("POST", "/ai/{bot_id}/golden-questions/collect"): {"source": "samples"},
    ("POST", "/ai/{bot_id}/golden-runs"): {"threshold": 0.5},
    ("POST", "/ai/{bot_id}/replays"): {"day": "2026-01-31"},
    ("POST", "/ai/{bot_id}/unanswered-questions/{question_id}/answer"): {"answer": "Yes."},
    ("PUT", "/ai/model"): {"base_url": "https://93.184.215.14/v1", "model": "small"},
    ("PUT", "/ai/{bot_id}/customer-info-field"): {
        "fields": [{"name": "city", "label": {"en": "City"}, "type": "text"}]
    },
    ("PUT", "/ai/{bot_id}/welcome-message"): {"messages": {"en": "Hello"}},
    ("POST", "/ai/{bot_id}/upload-banner-image"): {"file": ("banner.png", PNG)},
    ("PUT", "/ai/{bot_id}/banner"): {"alt": None},
    ("PUT", "/identity/languages"): {"default_language": "en", "languages": [{"code": "en"}]},
    ("PUT", "/ai/bot/{bot_id}/toggle-disable"): {"is_disabled": True},
    ("PUT", "/ai/bot/{bot_id}/sample-questions"): {"questions": [{"question": "Open on Sunday?"}]},
    ("PUT", "/ai/customers/{customer_id}"): {"name": "Zoe"},
    ("POST", "/ai/client/chat"): {"customer": {"name": "Zoe"}},
    ("POST", "/ai/client/chat/{chat_id}"): {"text": "Hello", "reply": "none"},
    ("POST", "/function-calling/{bot_id}"): {"is_enabled": True, "functions": []},
    ("POST", "/function-calling/{bot_id}/mcp-servers"): {
        "name": "Other", "url": "https://93.184.215.14/mcp"
    },
    ("PUT", "/function-calling/{bot_id}/mcp-servers/{mcp_server_id}"): {"is_enabled": False},
    ("PUT", "/ai/{bot_id}/procedures"): {"procedures": []},
    ("POST", "/function-calling/{bot_id}/events/{call_id}/decision"): {"approve": False},
    ("POST", "/ai/chat/{chat_id}/typing"): {"is_typing": True},
    ("POST", "/ai/chat/{chat_id}/viewing"): {"is_viewing": True},
    ("POST", "/ai/chat/{chat_id}/assign"): {"assign_type": "agent"},
    ("POST", "/ai/chat/{chat_id}/manual"): {"text": "Hello"},
    ("POST", "/ai/chat/{chat_id}/manual/files"): {"files": ("a.txt", b"Hello")},
    ("POST", "/ai/chat/{chat_id}/snooze"): {"until": TOMORROW},
    ("PUT", "/ai/chat/{chat_id}/priority"): {"priority": "urgent"},
    ("POST", "/ai/chat/push-subscriptions"): PUSH,
    ("POST", "/ai/chat/views"): {"name": "Late", "query": "view=unassigned&tag=late"},
    ("POST", "/ai/chat/saved-replies"): {"shortcut": "late", "texts": {"en": "Sorry."}},
    ("PUT", "/ai/chat/saved-replies/{saved_reply_id}"): {
        "shortcut": "late", "texts": {"en": "Sorry."}, "is_shared": False,
    },
    ("POST", "/ai/client/chat/suggestions/{chat_id}"): {"count": 2},
    ("POST", "/ai/chat/{chat_id}/rewrite"): {"text": "Hello", "style": "shorter"},
    ("PUT", "/ai/chat/{chat_id}/messages/{message_id}"): {"text": "Hello again"},
    ("POST", "/client/translate"): {"text": "Hello", "out_lang_code": "vi"},
    ("POST", "/ai/translate"): {"text": "Hello", "out_lang_code": "vi"},
    ("POST", "/client/summarize"): {"text": "We open at nine. We close at five."},
    ("POST", "/ai/chat/summary/calculate"): {"force": True},
    ("POST", "/ai/chat/{chat_id}/tags"): {"tags": ["refund"]},
    ("PUT", "/ai/chat/{chat_id}/tags"): {"tags": ["refund"]},
    ("POST", "/ai/tags"): {"name": "late", "colour": "#d73a4a"},
    ("PUT", "/ai/tags/{tag_id}"): {"colour": "#d73a4a"},
    ("POST", "/ai/tags/{tag_id}/merge"): {"into": "refund"},
    ("POST", "/ai/chat/{chat_id}/feedback"): {"rating": 5},
    ("POST", "/ai/{bot_id}/generate-chat"): {"messages": [{"role": "user", "content": "Hello"}]},
    ("POST", "/ai/chat/{chat_id}/generate"): {"stream": False},
    ("POST", "/ai/client/chat/{chat_id}/delivered"): {"seq": 1},
    ("POST", "/ai/client/chat/{chat_id}/read"): {},
    ("POST", "/ai/client/chat/{chat_id}/transcript/mail"): {"email": "zoe@example.com"},
    ("POST", "/ai/client/chat/customer/{chat_id}"): {"name": "Zoe"},
    ("POST", "/ai/client/visitor"): {
        "external_id": "c-1", "identity_signature": hmac.digest(b"x", b"c-1", "sha256").hex(),
    },
    ("POST", "/ai/client/chat/files/{chat_id}"): {"files": ("a.txt", b"Hello"), "reply": "none"},
    ("POST", "/ai/client/chat/assistant/{chat_id}"): {"text": "Hello"},
    ("POST", "/mesaging/conversations/{conversation_id}/messages"): {
        "sender": {"type": "customer"}, "text": "Hello",
    },
    ("POST", "/mesaging/conversations"): {"requester": {"external_id": "c-1"}},
    ("POST", "/identity/register-trial"): REGISTRATION,
    ("PUT", "/identity/sign-in-provider"): {
        "issuer": "https://93.184.215.14", "application_id": "chat", "application_secret": "x",
        "email_domains": ["acme.example"],
    },
    ("POST", "/identity/confirm-registration"): {"token": "x" * 43, "password": PASSWORD},
    ("POST", "/identity/resend-registration"): {"email": "a@b.example"},
    ("POST", "/identity/api-keys"): {"name": "Server", "scope": "secret"},
    ("PUT", "/identity/api-keys/{api_key_id}"): {"name": "Server", "requests_per_minute": 600},
    ("POST", "/identity/token2"): {"grant_type": "password", "username": "a@b.example",
                                   "password": PASSWORD},
    ("POST", "/identity/subscription/top-up"): {"amount": 500, "reference": "INV-1"},
    ("POST", "/identity/subscription/payments"): {
        "order_id": str(uuid.UUID(int=1)), "amount": 500, "reference": "INV-1", "status": "paid",
    },
    ("PUT", "/identity/users/me"): {"full_name": "Ann Lee"},
    ("PUT", "/identity/users/me/password"): {"current_password": PASSWORD,
                                             "new_password": "another-horse-battery"},
    ("POST", "/config/{client_id}/chat"): {"agent_capacity": 7},
    ("PUT", "/config/{client_id}/words"): {"words": [{"name": "thanks", "own": {"de": "Gern!"}}]},
    ("POST", "/identity/socialnet-access-token"): {"access_token": "EAAG", "expires_in": 3600},
    ("POST", "/identity/users"): {"email": "eve@delta.example", "full_name": "Eve Fox"},
    ("PUT", "/identity/users/{user_id}/disable"): {"is_disabled": True},
    ("PUT", "/identity/users/{user_id}/reset-password"): {"password": PASSWORD},
    ("PUT", "/identity/users/{user_id}/role"): {"role": "viewer"},
    ("POST", "/identity/forgot-password"): {"email": "a@b.example"},
    ("POST", "/identity/verify-reset-token"): {"token": "x" * 43},
    ("POST", "/identity/reset-password"): {"token": "x" * 43, "new_password": PASSWORD},
    ("POST", "/config/{client_id}/email-notification"): {"recipients": ["a@b.example"]},
    ("POST", "/socialnet/webhook"): {"object": "page", "entry": []},
    ("POST", "/socialnet/{client_id}/messages/{bot_id}"): {"recipient_id": "61", "text": "Hello"},
    ("POST", "/socialnet/{client_id}/user-token"): {"access_token": "EAAG"},
    ("POST", "/socialnet/{client_id}/connect/{bot_id}"): {"redirect_uri": "https://shop.example/"},
    ("POST", "/socialnet/{client_id}/connect_page/{bot_id}"): {"page_id": "104"},
    ("PUT", "/socialnet/{client_id}/disconnect_page/{bot_id}"): {"page_id": "104"},
    ("PUT", "/socialnet/{client_id}/reconnect_page/{bot_id}"): {"page_id": "104"},
    ("POST", "/photoapp/webhook"): {"object": "instagram", "entry": []},
    ("POST", "/photoapp/{client_id}/messages/{bot_id}"): {"recipient_id": "61", "text": "Hello"},
    ("POST", "/photoapp/{client_id}/user-token"): {"access_token": "EAAG"},
    ("POST", "/photoapp/{client_id}/connect/{bot_id}"): {"redirect_uri": "https://shop.example/"},
    ("POST", "/photoapp/{client_id}/connect_page/{bot_id}"): {"page_id": "104"},
    ("POST", "/localapp/callback"): {"event_name": "follow"},
    ("POST", "/localapp/{client_id}/connect/{bot_id}"): {"redirect_uri": "https://shop.example/"},
    ("POST", "/localapp/{client_id}/messages/{bot_id}"): {"recipient_id": "61", "text": "Hello"},
    ("POST", "/chatapp/webhook"): {"object": "whatsapp_business_account", "entry": []},
    ("POST", "/chatapp/{client_id}/messages/{bot_id}"): {"recipient_id": "61", "text": "Hello"},
    ("POST", "/chatapp/{client_id}/templates/{bot_id}"): {
        "recipient_id": "61", "name": "hello_world", "language": "en_US",
    },
    ("POST", "/chatapp/{client_id}/user-token"): {"access_token": "EAAG"},
    ("POST", "/chatapp/{client_id}/connect/{bot_id}"): {"phone": {"phone_number_id": "104"}},
    ("POST", "/telegram/webhook/{account_id}"): {"update_id": 1},
    ("POST", "/telegram/{client_id}/messages/{bot_id}"): {"recipient_id": "61", "text": "Hello"},
    ("POST", "/telegram/{client_id}/connect/{bot_id}"): {"token": "710:AA"},
    ("POST", "/webhook/config"): {"url": "https://93.184.215.14/hook"},
    ("PUT", "/webhook/config/{config_id}"): {"url": "https://93.184.215.14/hook"},
    ("POST", "/webhook/replay"): {"created_from": "2999-01-01T00:00:00Z"},
    ("POST", "/report/adhoc/search"): {"group_by": ["day"]},
    ("POST", "/mcp"): {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "search_conversations"},
    },
    ("POST", "/identity/revoke"): {"token_type_hint": "access_token"},
    ("POST", "/report/adhoc/export"): {"format": "csv"},
    ("PUT", "/report/warning-dashboard/mute"): {"code": "low_ratings", "until": TOMORROW},
}  # fmt: skip


# What an operation cannot do without in its address.
NEEDED_QUERY = {"/ai/{bot_id}/search": "?q=parcel"}


@dataclass(frozen=True)
class Served:
    """A served operation, with its path as in the OpenAPI document."""

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
        path = self.path.format(**{name: ids[name] for name in self.ids})
        return path + NEEDED_QUERY.get(self.path, "")

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


ALL = [Served(m, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path), d) for m, path, d in routes()]
CLOSED = [served for served in ALL if served.declared.access is not PUBLIC]
WITH_ID = [served for served in ALL if served.ids]
WITH_BODY = [served for served in ALL if served.declared.body]
WITH_QUERY = [served for served in ALL if served.declared.query]
for_each = functools.partial(pytest.mark.parametrize, "served", ids=str)


def send(caller: Person, served: Served, ids: dict[str, Any], body: Any = None) -> Any:
    """Send the accepted request of the operation, or the same with another body."""
    path, method = served.fill(ids), served.method.lower()
    sent: Any = ACCEPTED.get(served.at) if body is None else body
    if not isinstance(served.declared.body, Form):
        raw = b"" if sent is None else json.dumps(sent).encode()
        return raw_call(caller, served, path, raw, "application/json")
    assert sent is not None
    if media_type_of(served) == "multipart/form-data":
        return getattr(caller.browser, method)(
            path, {name: part(value) for name, value in sent.items()}, headers=caller.headers
        )
    text = "&".join(f"{name}={value}" for name, value in sent.items())
    return raw_call(caller, served, path, text.encode("utf-8", "replace"), media_type_of(served))


def part(value: Any) -> Any:
    if isinstance(value, tuple):
        part = io.BytesIO(value[1])
        part.name = value[0]
        return part
    return value if isinstance(value, (str, int)) else json.dumps(value)


def media_type_of(served: Served) -> str:
    body = served.declared.body
    return body.media_types[0] if isinstance(body, Form) else "application/json"


def raw_call(caller: Person, served: Served, path: str, raw: bytes, media_type: str) -> Any:
    reply = caller.browser.generic(served.method, path, raw, content_type=media_type,
                               headers=caller.headers)  # fmt: skip
    if reply.headers.get("Content-Disposition"):
        list(reply)  # read to its end, it closes the file
    return reply


@contextmanager
def undone() -> Iterator[None]:
    """What the block writes is rolled back, so that the next one finds the rows as they were."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def rows_of(owner: Person, key: Person) -> dict[str, Any]:
    """Create one row for each id that a path names; they belong to the owner's client."""
    bot = make_bot(owner.client, export_enabled=True, identity_secret="x")
    channel_rows(owner.client, bot)
    chat = Conversation.objects.create(
        client=owner.client,
        bot=bot,
        customer=Customer.objects.create(client=owner.client, name="Zoe"),
        opened_by_key=key.key,
        language="en",
    )
    accounts = {"account_id": 104}
    return bot_rows(bot) | chat_rows(chat, owner) | client_rows(owner.client) | accounts


def bot_rows(bot: Bot) -> dict[str, Any]:
    own = {"client": bot.client, "bot": bot}
    prompt = Prompt.objects.create(**own, version=bot.pk, content="Be kind.")
    waiting = Prompt.objects.create(
        **own, version=bot.pk + 1_000_000, content="Be brief.", is_current=False
    )
    document = Document.objects.create(
        **own, file=ContentFile(b"x", name="x.txt"), file_name="x.txt",
        mime_type="text/plain", size_bytes=1, sha256=uuid.uuid4().hex * 2,
    )  # fmt: skip
    written = {
        source: Document.objects.create(
            **own, source=source, title="Hours", content="Open from nine.",
            file_name="Hours.txt", mime_type="text/plain", size_bytes=1, sha256=uuid.uuid4().hex,
        )
        for source in ("text", "question_answer")
    }  # fmt: skip
    call = FunctionCall.objects.create(
        **own, function_name="refund", arguments={"order_id": "1007"}, status="waiting",
        requires_approval="agent",
    )  # fmt: skip
    SampleQuestion.objects.create(**own, question="Parking?", language="en")
    return {
        "bot_id": bot.pk,
        # No id, but no other bot has a version of this number.
        "version": prompt.version,
        "document_id": document.pk,
        "text_id": written["text"].pk,
        "question_answer_id": written["question_answer"].pk,
        "web_url_id": WebUrl.objects.create(**own, url="https://93.184.215.14/").pk,
        "call_id": call.pk,
        "mcp_server_id": McpServer.objects.create(
            **own, name="Shop", url="https://93.184.215.14/mcp"
        ).pk,
        "golden_question_id": GoldenQuestion.objects.create(**own, question="Hours?").pk,
        "run_id": GoldenRun.objects.create(**own, prompt=waiting, status="done", outcome="held").pk,
    }


def chat_rows(chat: Conversation, owner: Person) -> dict[str, Any]:
    assert owner.user
    own = {"client": owner.client, "conversation": chat}
    message = Message.objects.create(
        **own, seq=1, sender_type="customer", content=[], text="Is there a car park?"
    )
    answer = Message.objects.create(
        **own, seq=2, sender_type="bot", content=[], in_reply_to=message,
        receipt={"decision": "no_answer"},
    )  # fmt: skip
    Conversation.objects.filter(pk=chat.pk).update(last_seq=2)
    attachment = Attachment.objects.create(
        **own, message=message, file=ContentFile(b"x", name="x.txt"),
        file_name="x.txt", mime_type="text/plain", size_bytes=1,
    )  # fmt: skip
    Summary.objects.create(
        **own, summary="Hello", language="en", message_count=1, engine="extractive"
    )
    notification = Notification.objects.create(**own, user=owner.user, kind="assigned")
    group = QuestionGroup.objects.create(
        client=owner.client, bot=chat.bot, digest="x", count=1, latest_at=message.created_at
    )
    GroupedQuestion.objects.create(
        client=owner.client, group=group, message=message, asked_at=message.created_at
    )
    return {
        "chat_id": chat.pk,
        "conversation_id": chat.pk,
        "chat_code": chat.chat_code,
        "customer_id": chat.customer_id,
        "merged_id": Customer.objects.create(client=owner.client, name="Zoe too").pk,
        "message_id": answer.pk,
        "question_id": group.pk,
        "replay_id": Replay.objects.create(
            client=owner.client, bot=chat.bot, day="2026-01-30", status="done"
        ).pk,
        "attachment_id": attachment.pk,
        "notification_id": notification.pk,
        "subscription_id": PushSubscription.objects.create(
            client=owner.client,
            user=owner.user,
            sign_in=uuid.uuid4(),
            endpoint=f"https://push.example/{uuid.uuid4()}",
            **PUSH["keys"],
        ).pk,
    }


def client_rows(client: Client) -> dict[str, Any]:
    user: Any = make_person(client, Role.AGENT, "Abe").user
    ClientTag.objects.get_or_create(client=client, name="refund")
    tag = ClientTag.objects.create(client=client, name=uuid.uuid4().hex)
    saved_reply = SavedReply.objects.create(
        client=client, shortcut=uuid.uuid4().hex, texts={"en": "Hi."}
    )
    config = WebhookConfig.objects.create(
        client=client, url="https://93.184.215.14/hook", secret=new_secret()
    )
    EmailNotification.objects.get_or_create(
        client=client, defaults={"recipients": ["desk@acme.example"]}
    )
    SignInProvider.objects.get_or_create(
        client=client,
        defaults={
            "issuer": "https://93.184.215.14", "application_id": "chat", "application_secret": "x",
            "email_domains": ["acme.example"], "admits_owners": True,
        },
    )  # fmt: skip
    export = Export.objects.create(
        client=client, created_by=user, param={"format": "csv"}, rows=1, status="done",
        file=ContentFile(b"x", name="x.csv"), file_name="x.csv", expires_at=TOMORROW,
    )  # fmt: skip
    return {
        "export_id": export.pk,
        "client_id": client.pk,
        "user_id": user.pk,
        "api_key_id": make_key(client).key.pk,  # type: ignore[union-attr]
        "order_id": credit_orders.create(client, amount=500, reference="INV-7", by=None).pk,
        "config_id": config.pk,
        "event_id": f"evt_{announce(client.pk, 'message.created', {}).pk.hex}",
        # Done: a customer for whom one waits would count as being erased already.
        "erasure_id": CustomerErasure.objects.create(
            client=client, customer_id=0, chats_total=0, status="done"
        ).pk,
        "job_id": SummaryJob.objects.create(client=client).pk,
        "tag_id": tag.pk,
        "saved_reply_id": saved_reply.pk,
        "view_id": SavedView.objects.create(
            user=user, list_name="chats.inbox", name="Late", query="view=all", is_shared=True
        ).pk,
    }


def channel_rows(client: Client, bot: Any) -> None:
    """On every channel: an account, a person's token, and a customer who may be written to."""
    for channel in PROVIDERS:
        ChannelAccessToken.objects.update_or_create(
            client=client, channel=channel, defaults={"access_token": "EAAG"}
        )
        ChannelConnection.objects.create(
            client=client, bot=bot, channel=channel, account_id="104", status="disconnected"
        )
        customer = Customer.objects.create(client=client, name="Zoe")
        identity = CustomerIdentity.objects.create(
            client=client, customer=customer, channel=channel, account_id=uuid.uuid4().hex,
            provider_user_id="61",
        )  # fmt: skip
        chat = Conversation.objects.create(
            client=client, bot=bot, customer=customer, language="en", channel=channel
        )
        ChannelChat.objects.create(client=client, conversation=chat, identity=identity)


MISSING: dict[str, Any] = {
    "account_id": 999_999_999,
    "bot_id": 999_999_999, "document_id": 999_999_999, "api_key_id": 999_999_999,
    "web_url_id": 999_999_999, "saved_reply_id": 999_999_999, "view_id": 999_999_999,
    "golden_question_id": 999_999_999, "question_id": 999_999_999,
    "run_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "replay_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "text_id": 999_999_999, "question_answer_id": 999_999_999,
    "version": 999_999_999,
    "tag_id": 999_999_999,
    "client_id": 999_999_999, "user_id": 999_999_999,
    "chat_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "conversation_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "attachment_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "message_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "chat_code": "NO-SUCH-CODE",
    "export_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "order_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "call_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "mcp_server_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "customer_id": 999_999_999, "merged_id": 999_999_999,
    "notification_id": uuid.UUID(int=7 << 76 | 2 << 62 | 2),
    "subscription_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "job_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "erasure_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1),
    "config_id": uuid.UUID(int=7 << 76 | 2 << 62 | 1), "event_id": f"evt_{1:032x}",
}  # fmt: skip


def callers(access: Access, person: Person, key: Person) -> list[Person]:
    """Those of the two that the operation admits."""
    holders = {"bearer": person, "api_key": key}
    return [holders[scheme] for scheme in access.security]
