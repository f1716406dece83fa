"""Guards over every list: it sends the same SQL statements for 3 rows and for 40.

A list is any GET with a paged query or a list in its answer. A new one needs rows in `ROWS`, or a
reason in `BOUNDED_BECAUSE` why it cannot grow.
"""

import typing
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pydantic import BaseModel

from bots.models import (
    Bot,
    Document,
    Function,
    FunctionCall,
    GoldenQuestion,
    GoldenRun,
    LanguageModel,
    McpServer,
    Prompt,
    SampleQuestion,
    WebPage,
    WebUrl,
)
from channels_app.models import ChannelConnection
from chatplatform.api.pagination import Page
from chatplatform.ids import short_code
from chatplatform.tests.row_makers import Place, new_ids, rows
from chatplatform.tests.served import ALL, Served, rows_of
from chats.models import (
    Attachment,
    ClientTag,
    Conversation,
    Customer,
    Feedback,
    GroupedQuestion,
    Message,
    Notification,
    PushSubscription,
    QuestionGroup,
    Replay,
    ReplayedReply,
    SavedReply,
    Summary,
    Tagging,
    text_content,
)
from identity.models import ApiKey, AuditEvent, CreditOrder, SavedView, User
from identity.testing import Person, make_key
from webhooks.models import Delivery, DeliveryAttempt, Event, UnnumberedEvent, WebhookConfig

pytestmark = pytest.mark.full

FEW, MANY, LIMIT = 3, 40, 15
# For the caller, the parent row, the rows, and their relations.
MOST_STATEMENTS = 4
ONE_MORE_BECAUSE = {
    "/webhook/events": "new events get their places first",
    "/function-calling/{bot_id}": "whether the model in use calls functions",
    "/ai/client/migrate/messages": "the first page is written into the audit log",
    "/ai/client/migrate/conversations": "the first page is written into the audit log",
}
# An export leaves out rows of the last seconds.
A_WHILE_AGO = timezone.now() - timedelta(minutes=5)


# Each row has its own relations, so that a relation fetched row by row is counted.
def users(at: Place, count: int) -> list[Any]:
    return rows(User, count, client=at.client, email="{}@acme.example".format, full_name="Eve")


def keys(at: Place, count: int, created_by: list[Any] | None = None) -> list[Any]:
    return rows(
        ApiKey, count, client=at.client, name="Own", scope="public", bot_id=lambda n: n,
        prefix=lambda _: short_code(12), created_by=created_by or users(at, count),
    )  # fmt: skip


def orders(at: Place, count: int) -> list[Any]:
    return rows(CreditOrder, count, client=at.client, amount=5, reference="PO-{}".format,
                created_by=users(at, count))  # fmt: skip


def audit_events(at: Place, count: int) -> list[Any]:
    return rows(AuditEvent, count, client=at.client, action="user.updated", user=users(at, count))


def bots(at: Place, count: int) -> list[Any]:
    return rows(Bot, count, client=at.client, bot_name="Own", languages=lambda n: [f"de-{n:04}"])


def trained_bots(at: Place, count: int) -> list[Any]:
    stored = bots(at, count)
    rows(Prompt, count, client=at.client, bot=stored, version=1, created_by=users(at, count))
    documents(at, count, bot=stored)
    return stored


def questions(at: Place, count: int) -> list[Any]:
    return rows(
        SampleQuestion, count, client=at.client, bot_id=at.ids["bot_id"], question="Open?",
        language="en",
    )  # fmt: skip


def functions(at: Place, count: int) -> list[Any]:
    return rows(
        Function, count, client=at.client, bot_id=at.ids["bot_id"], name="call_{}".format,
        description="Find it.", parameters={}, method="GET", url="https://shop.example/",
        secret_headers='{"A": "b"}',
    )  # fmt: skip


def function_calls(at: Place, count: int) -> list[Any]:
    return rows(
        FunctionCall, count, client=at.client, bot_id=at.ids["bot_id"], status="succeeded",
        function_name="refund", conversation_id=new_ids(count), decided_by=users(at, count),
    )  # fmt: skip


def mcp_servers(at: Place, count: int) -> list[Any]:
    bot_id = at.ids["bot_id"]
    stored = rows(
        McpServer, count, client=at.client, bot_id=bot_id, name="Shop {}".format,
        url="https://shop.example/mcp",
    )  # fmt: skip
    rows(
        Function, count, client=at.client, bot_id=bot_id, name="tool_{}".format, method="", url="",
        description="Find it.", parameters={}, mcp_server=stored, tool="find",
    )  # fmt: skip
    return stored


def golden_questions(at: Place, count: int) -> list[Any]:
    bot_id = at.ids["bot_id"]
    return rows(
        GoldenQuestion, count, client=at.client, bot_id=bot_id, question="Question {}?".format
    )


def golden_runs(at: Place, count: int) -> list[Any]:
    bot_id = at.ids["bot_id"]
    return rows(
        GoldenRun, count, client=at.client, bot_id=bot_id, prompt=prompts(at, count), status="done"
    )


def question_groups(at: Place, count: int) -> list[Any]:
    bot_id = at.ids["bot_id"]
    groups = rows(QuestionGroup, count, client=at.client, bot_id=bot_id, digest="x")
    in_groups(at, count, group=groups)
    return groups


def replays(at: Place, count: int) -> list[Any]:
    bot_id = at.ids["bot_id"]
    return rows(Replay, count, client=at.client, bot_id=bot_id, day="2026-01-31", status="done")


def replayed(at: Place, count: int) -> list[Any]:
    return rows(
        ReplayedReply, count, client=at.client, replay_id=at.ids["replay_id"],
        message=messages(at, count), change="gained", decision="answered",
    )  # fmt: skip


def in_groups(at: Place, count: int, **fields: Any) -> list[Any]:
    fields = fields or {"group_id": at.ids["question_id"]}
    asked = messages(at, count)
    return rows(
        GroupedQuestion, count, client=at.client, message=asked, asked_at=A_WHILE_AGO, **fields
    )


def language_models(at: Place, count: int) -> list[Any]:
    return rows(
        LanguageModel, count, client=at.client, bot=bots(at, count), api_key="k",
        base_url="https://93.184.215.14/v1",
    )  # fmt: skip


def documents(at: Place, count: int, **fields: Any) -> list[Any]:
    fields = fields or {"bot_id": at.ids["bot_id"]}
    return rows(
        Document, count, client=at.client, file="{}.txt".format, file_name="a.txt",
        mime_type="text/plain", size_bytes=1, sha256="{:064}".format, status="trained", **fields,
    )  # fmt: skip


def written(at: Place, count: int, source: str) -> list[Any]:
    words = {"content": "Hello", "title": "Hello?"}
    return documents(at, count, bot_id=at.ids["bot_id"], source=source, **words)


def prompts(at: Place, count: int) -> list[Any]:
    return rows(
        Prompt, count, client=at.client, bot_id=at.ids["bot_id"],
        version=lambda n: 1_000_000 + n,  # the bot has one whose number is the bot's id
        content="Be kind.", is_current=False, created_by=users(at, count),
    )  # fmt: skip


def web_urls(at: Place, count: int) -> list[Any]:
    url = "https://shop.example/{}".format
    stored = rows(WebUrl, count, client=at.client, bot_id=at.ids["bot_id"], url=url)
    rows(
        WebPage, count, client=at.client, web_url=stored, url=url, status="trained",
        document=documents(at, count, bot_id=at.ids["bot_id"], web_url=stored),
        fetched_at=A_WHILE_AGO,
    )  # fmt: skip
    return stored


def endpoints(at: Place, count: int) -> list[Any]:
    return rows(WebhookConfig, count, client=at.client, url="https://shop.example/", secret="whsec")


def deliveries(at: Place, count: int, **fields: Any) -> list[Any]:
    fields = fields or {"event_id": at.ids["event_id"].removeprefix("evt_")}
    config = endpoints(at, count)
    stored = rows(Delivery, count, client=at.client, config=config, state="failed", **fields)
    rows(DeliveryAttempt, count, client=at.client, delivery=stored, number=1, http_status=500)
    return stored


def events(at: Place, count: int) -> list[Any]:
    fields = {"client": at.client, "conversation_id": new_ids(count)}
    stored = rows(Event, count, type="t.t", data={}, **fields)
    rows(UnnumberedEvent, count, client=at.client, event_id=[row.pk for row in stored])
    deliveries(at, count, event=stored)
    return stored


def chats(at: Place, count: int, **fields: Any) -> list[Any]:
    """Each with a message, a rating, a tag and a summary; of the bot or customer in `fields`."""
    agents, newest = users(at, count), new_ids(count)
    if "customer_id" not in fields:
        fields["customer"] = rows(Customer, count, client=at.client, name="Zoe")
    if "bot_id" not in fields:
        fields["bot"] = bots(at, count)
    stored = rows(
        Conversation, count, client=at.client, assign_type="agent", assignee=agents,
        opened_by_key=keys(at, count, agents), language="en", last_seq=1, last_message_id=newest,
        created_at=A_WHILE_AGO, **fields,
    )  # fmt: skip
    messages(at, count, newest, conversation=stored)
    rows(Feedback, count, client=at.client, conversation=stored, rating=5)
    rows(Tagging, count, client=at.client, conversation=stored, name="tag-{}".format, source="ai")
    rows(Summary, count, client=at.client, conversation=stored, language="en", message_count=1)
    return stored


def messages(at: Place, count: int, ids: list[uuid.UUID] | None = None, **chat: Any) -> list[Any]:
    """Each with a file and a rating, and in reply to another."""
    ids = ids or new_ids(count)
    chat = chat or {"conversation_id": at.ids["chat_id"]}
    stored = rows(
        Message, count, client=at.client, id=ids, in_reply_to_id=[*ids[1:], ids[0]],
        seq=lambda n: n, sender_type="agent", content=lambda _: text_content("Hello"),
        text="Hello", receipt={"confidence": 0.9}, created_at=A_WHILE_AGO, **chat,
    )  # fmt: skip
    rows(Feedback, count, client=at.client, message=stored, rating=2, **chat)
    rows(
        Attachment, count, client=at.client, message=stored, file="a.txt", size_bytes=1, **chat,
    )  # fmt: skip
    return stored


def channel_conversations(channel: str) -> Callable[[Place, int], list[Any]]:
    """In chats of a channel, each with a customer of its own."""

    def make(at: Place, count: int) -> list[Any]:
        stored = chats(at, count, bot_id=at.ids["bot_id"], channel=channel)
        return messages(at, count, conversation=stored)

    return make


def channel_connections(at: Place, count: int) -> list[Any]:
    """Of a bot each, as every bot has one at most."""
    return rows(
        ChannelConnection, count, client=at.client, bot=bots(at, count), channel="photoapp",
        account_id="9{}".format,
    )  # fmt: skip


def notifications(at: Place, count: int) -> list[Any]:
    return rows(
        Notification, count, client=at.client, user=at.user, conversation=chats(at, count),
        kind="assigned", assigned_by=users(at, count),
    )  # fmt: skip


def push_subscriptions(at: Place, count: int) -> list[Any]:
    return rows(
        PushSubscription, count, client=at.client, user=at.user, sign_in=new_ids(count),
        endpoint="https://push.example/own-{}".format,
    )  # fmt: skip


def client_tags(at: Place, count: int) -> list[Any]:
    chats(at, count)
    return rows(ClientTag, count, client=at.client, name="own-{}".format)


def saved_replies(at: Place, count: int) -> list[Any]:
    shortcut = "late-{}".format
    return rows(SavedReply, count, client=at.client, shortcut=shortcut, texts=lambda _: {"en": "a"})


def saved_views(at: Place, count: int) -> list[Any]:
    return rows(
        SavedView, count, user=at.user, list_name="chats.inbox", name="view-{}".format,
    )  # fmt: skip


def ai_tags(at: Place, count: int) -> list[Any]:
    return rows(
        Tagging, count, client=at.client, conversation_id=at.ids["chat_id"], source="ai",
        name="tag-{}".format,
    )  # fmt: skip


def of_parent(make: Callable[..., list[Any]], name: str) -> Callable[[Place, int], list[Any]]:
    """The same rows, but all of the bot or customer that the path names."""
    return lambda at, count: make(at, count, **{name: at.ids[name]})


# The rows of each list.
def customers(at: Place, count: int) -> list[Any]:
    return [chat.customer for chat in chats(at, count)]


ROWS: dict[str, Callable[[Place, int], list[Any]]] = {
    "/identity/users": users,
    "/identity/api-keys": keys,
    "/identity/subscription/orders": orders,
    "/identity/audit": audit_events,
    "/identity/languages": bots,
    "/identity/languages/by-api-key": bots,
    "/webhook/configs": endpoints,
    "/webhook/events": events,
    "/webhook/events/{event_id}": deliveries,
    "/ai/bot": trained_bots,
    "/ai/bot/config": questions,
    "/ai/bot/{bot_id}/sample-questions": questions,
    "/ai/{bot_id}/golden-questions": golden_questions,
    "/ai/{bot_id}/golden-runs": golden_runs,
    "/ai/{bot_id}/replays": replays,
    "/ai/{bot_id}/replays/{replay_id}/replies": replayed,
    "/ai/{bot_id}/unanswered-questions": question_groups,
    "/ai/{bot_id}/unanswered-questions/{question_id}/chats": in_groups,
    "/ai/model": language_models,
    "/ai/{bot_id}/train/document": documents,
    "/ai/{bot_id}/train/prompt/versions": prompts,
    "/ai/{bot_id}/train/text": partial(written, source="text"),
    "/ai/{bot_id}/train/question-answer": partial(written, source="question_answer"),
    "/ai/{bot_id}/train/web-url": web_urls,
    "/function-calling/{bot_id}": functions,
    "/function-calling/{bot_id}/events": function_calls,
    "/function-calling/{bot_id}/mcp-servers": mcp_servers,
    "/ai/customers": customers,
    "/ai/chats": chats,
    "/ai/{bot_id}/chat-history": of_parent(chats, "bot_id"),
    "/ai/chat/history/customer/{customer_id}": of_parent(chats, "customer_id"),
    "/ai/chat/{chat_id}/history": messages,
    "/ai/chat/notifications": notifications,
    "/ai/chat/push-subscriptions": push_subscriptions,
    "/ai/chat/saved-replies": saved_replies,
    "/ai/chat/views": saved_views,
    "/ai/chat/feedbacks": chats,
    "/ai/tags": client_tags,
    "/ai/client/chats": chats,
    "/ai/client/chat/history/{chat_id}": messages,
    "/ai/client/chat/history-with-customer/{chat_id}": messages,
    "/ai/client/chat/messages/{chat_code}": messages,
    "/ai/client/migrate/conversations": chats,
    "/ai/client/migrate/messages": messages,
    "/socialnet/{client_id}/messages/{bot_id}": channel_conversations("socialnet"),
    "/photoapp/{client_id}/messages/{bot_id}": channel_conversations("photoapp"),
    "/localapp/{client_id}/messages/{bot_id}": channel_conversations("localapp"),
    "/chatapp/{client_id}/messages/{bot_id}": channel_conversations("chatapp"),
    "/telegram/{client_id}/messages/{bot_id}": channel_conversations("telegram"),
    "/photoapp/{client_id}/connection": channel_connections,
    "/mesaging/conversations": chats,
    "/mesaging/conversations/{conversation_id}/messages": messages,
    "/mesaging/conversations/{conversation_id}/ai-tags": ai_tags,
}
BOUNDED_BECAUSE = {
    "/ai/{bot_id}/unanswered-questions/{question_id}": "one question; at most a few sources",
    "/ai/{bot_id}/golden-runs/{run_id}": "one run, of at most 100 questions",
    **dict.fromkeys(
        (
            "/ai/{bot_id}/train/document/{document_id}",
            "/ai/{bot_id}/train/text/{text_id}",
            "/ai/{bot_id}/train/question-answer/{question_answer_id}",
        ),
        "one document; a held change names a few fields",
    ),
    "/ai/{bot_id}/procedures": "the procedures are one column of the bot",
    "/ai/{bot_id}/search": "at most 20 passages",
    "/localapp/callback": "a redirect, with nothing in its body",
    "/photoapp/{client_id}/accounts/{bot_id}": "the provider's own list, at most 100 at a time",
    "/chatapp/{client_id}/templates/{bot_id}": "the provider's own list, at most 100 at a time",
    **dict.fromkeys(
        (
            f"/{name}/{{client_id}}/connection/{{bot_id}}"
            for name in ("socialnet", "localapp", "chatapp", "telegram")
        ),
        "one connection, with the last 20 notices",
    ),
    "/chatapp/{client_id}/accounts/{bot_id}": "the provider's own list, at most 100 at a time",
    "/socialnet/{client_id}/pages/{bot_id}": "the provider's own list, at most 100 at a time",
    "/ai/client/chat/{chat_id}/transcript": "a file to keep: the last 5,000 messages of one chat",
    "/report/adhoc/filter-options": "at most 200 values of each kind",
    "/report/chat-overview": "at most 366 days, and 200 bots, channels and agents",
    "/report/chat-overview/{bot_id}": "at most 366 days, and 200 channels and agents",
    "/report/warning-dashboard": "a warning of each kind, with five samples at most",
    "/health": "the parts of the platform are a few, named in the code",
    "/config/{client_id}/chat": "business hours are one column of the one row",
    "/config/{client_id}/email-notification": "the recipients are at most 20, in one column",
    "/identity/sign-in-provider": "one provider; its domains are at most 50, in one column",
    "/webhook/config": "one endpoint; its event types are a column",
    "/ai/bot/{bot_id}": "one bot; its languages and hours are columns",
    "/ai/{bot_id}/customer-info-field": "the fields are one column of the bot",
    "/ai/chat/{chat_id}/messages/{message_id}/receipt": "one receipt; passages in one statement",
    "/ai/chat/{chat_id}/steps": "the newest 200 steps of one chat, in one statement",
    "/ai/chat/{chat_id}": "one chat; its tags are a column",
    "/ai/client/chat/{chat_id}": "one chat; its tags are a column",
    "/ai/chat/{chat_id}/saved-replies/{saved_reply_id}": "as many as the text has variables",
    "/ai/chat/events": "a live stream: it reads what is new, page by page, for as long as it lasts",
    "/config/{client_id}/words": "as many as the platform has words; yours are columns",
    "/mesaging/conversations/{conversation_id}": "one conversation; its tags are a column",
    "/mesaging/conversations/{conversation_id}/summary": "one summary; its points are a column",
}
# Filters that join other tables, or choose another order.
FILTERS = {
    "/ai/chats": {"q": "hello", "status": "open", "is_assigned": "true", "sort": "priority"},
    "/webhook/events": {"order": "asc", "state": "failed"},
}


# --- the guards -----------------------------------------------------------------------------------


def holds_a_list(annotation: Any, seen: tuple[Any, ...] = ()) -> bool:
    """Whether the type contains a list, also inside of nested schemas."""
    if (typing.get_origin(annotation) or annotation) in (list, set, frozenset, Sequence):
        return True
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.values()
        return annotation not in seen and any(
            holds_a_list(field.annotation, (*seen, annotation)) for field in fields
        )
    return any(holds_a_list(part, seen) for part in typing.get_args(annotation))


def is_list(served: Served) -> bool:
    """An answer without a schema counts as a list."""
    declared = served.declared
    return served.method == "GET" and (
        is_paged(served) or declared.returns is None or holds_a_list(declared.returns)
    )


def is_paged(served: Served) -> bool:
    query = served.declared.query
    return query is not None and issubclass(query, Page)


LISTS = [served for served in ALL if is_list(served)]
CASES = [
    pytest.param(served, scheme, query, id=" ".join([served.path, scheme, *query]))
    for served in LISTS
    if served.path in ROWS
    for scheme in served.declared.access.security
    for query in ({}, FILTERS.get(served.path))
    if query is not None
]


def ask(caller: Person, path: str, query: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The answer and its SQL statements; the first request fills the caches."""
    assert caller.get(path, query).status_code == 200
    with CaptureQueriesContext(connection) as captured:
        reply = caller.get(path, query)
    return reply.json(), [query["sql"] for query in captured]


def length(answer: dict[str, Any] | list[Any]) -> int:
    if isinstance(answer, list):
        return len(answer)
    return max(len(value) for value in answer.values() if isinstance(value, list))


def repeated(sent: list[str]) -> str:
    """The statement that was sent most often: probably the one sent for each row."""
    statement, times = Counter(sql.split(" WHERE ")[0] for sql in sent).most_common(1)[0]
    return f"{times} times {statement}"


@pytest.fixture
def key(ann, monkeypatch):
    """A secret key; it stays cached during the test, so that it does not affect the counts."""
    monkeypatch.setattr("identity.services.api_keys._CACHE_SECONDS", 600.0)
    return make_key(ann.client)


def test_every_list_has_rows_or_a_reason():
    paths, listed = {served.path for served in LISTS}, ROWS.keys() | BOUNDED_BECAUSE.keys()
    assert len(paths) > 30
    unknown, gone = sorted(paths - listed), sorted((listed | FILTERS.keys()) - paths)
    assert not unknown, "add rows to ROWS, or a reason to BOUNDED_BECAUSE"
    assert not gone, "there is no such list"
    assert not ROWS.keys() & BOUNDED_BECAUSE.keys()
    assert all(BOUNDED_BECAUSE.values())
    paged = {served.path for served in LISTS if is_paged(served)}
    assert not paged & BOUNDED_BECAUSE.keys(), "a list with pages can grow"


# Some lists are bounded in the document: only a test puts hundreds of rows into them.
@pytest.mark.undocumented
@pytest.mark.parametrize(("served", "scheme", "query"), CASES)
def test_a_list_sends_as_many_statements_for_many_rows_as_for_few(served, scheme, query, ann, key):
    caller = {"bearer": ann, "api_key": key}[scheme]
    # Made anew: rows that grow older than an export's delay would come into it meanwhile.
    at = Place(ann.client, ann.user, rows_of(ann, key))
    path, grow = served.fill(at.ids), ROWS[served.path]
    pages = {"limit": LIMIT} if is_paged(served) else {}
    grow(at, FEW)
    few, expected = ask(caller, path, query | pages)
    grow(at, MANY - FEW)
    many, sent = ask(caller, path, query | pages)
    assert length(few) >= FEW, "ROWS makes no rows of this list"
    assert length(many) == LIMIT if pages else length(many) >= MANY
    assert len(sent) == len(expected), repeated(sent)
    assert len(sent) <= MOST_STATEMENTS + (served.path in ONE_MORE_BECAUSE), sent
    if pages:
        second, sent = ask(caller, path, query | pages | {"cursor": many["next_cursor"]})
        assert length(second) == LIMIT
        assert len(sent) <= len(expected), repeated(sent)
