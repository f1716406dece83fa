"""Guards over the kinds of content (`KINDS`): each can be read wherever messages are."""

from collections.abc import Callable, Iterator
from html import unescape
from typing import Any, NamedTuple, get_args

import pytest
from django.core import mail
from django.db import transaction
from django.urls import reverse
from playwright.sync_api import Page, expect

from bots.models import Bot
from channels_app.tests.conftest import telegram, telegram_bot  # noqa: F401 - fixtures
from chatplatform.jobs import enqueue
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message, SenderType
from chats.schemas.content_kinds import KINDS, ContentType
from chats.schemas.message import MessageContent
from chats.services.core import answer_mails, conversations, messages
from chats.services.insight import transcripts
from chats.testing import visit
from chats.tests.conftest import model  # noqa: F401 - a fixture
from chats.tests.shop import Shop, running, write
from chats.tests.test_desk import enter, log, row, show
from identity.models import ClientConfig
from identity.testing import Person, signed_in

WORDS = "Monday morning"


class Sample(NamedTuple):
    """A part without its text, and its label: what one reads if it has no text."""

    keys: dict[str, Any]
    label: str = ""


def _file(name: str) -> Sample:
    return Sample({"url": f"https://files.example/{name}", "file_name": name}, name)


# An example of each kind.
SAMPLES = {
    "text": Sample({}),
    "image": _file("chair"),
    "file": _file("bill"),
    "audio": _file("voice"),
    "video": _file("tour"),
    "location": Sample({"location": {"city": "Huế", "country": "VN"}}, "Huế, VN"),
    "template": Sample({"template": {"name": "hi", "language": "en", "values": []},
                        "components": []}),
    "feedback": Sample({"options": [{"label": "Good", "value": "5"}]}),
}  # fmt: skip


class Said(NamedTuple):
    """An agent's message with one part, and the words by which it is recognized."""

    message: Message
    words: str
    is_text: bool


def said(chat: Conversation, kind: str) -> Iterator[Said]:
    """A message of this kind with a text and, if the kind has a label, one without."""
    assert kind in SAMPLES, f"Add a part of the type {kind} to SAMPLES in {__file__}."
    sample = SAMPLES[kind]
    part = {"type": kind, **sample.keys}
    for words, stored in ((WORDS, part | {"text": WORDS}), (sample.label, part)):
        if words:
            with transaction.atomic():
                author = messages.Author(SenderType.AGENT, None, "Ben")
                message = messages.append(
                    conversations.lock(chat), author=author, content=[stored], language="en"
                )
            yield Said(message, words, words == WORDS)


# --- the places -----------------------------------------------------------------------------------


class World(NamedTuple):
    """A visitor's chat, and who looks at it."""

    chat: Conversation
    server: Person
    ann: Person
    model: Any


def api(world: World, message: Message) -> Any:
    path = f"/ai/client/chat/history/{world.chat.pk}"
    shown = world.server.get(path).json()["items"][-1]["content"][0]
    (stored,) = message.content
    kept = {key for key in stored if key in MessageContent.model_fields}
    missing = {key for key in kept if shown.get(key) != stored[key]}
    return f"without {missing}" if missing else [*shown.values(), SAMPLES[shown["type"]].label]


def transcript(world: World, _: Message) -> Any:
    reply: Any = world.server.get(f"/ai/client/chat/{world.chat.pk}/transcript.txt")
    return b"".join(reply.streaming_content).decode()


def answer_mail(world: World, _: Message) -> Any:
    answer_mails.mail(str(world.chat.pk))
    return mail.outbox[-1].body


def visitors_list(world: World, _: Message) -> Any:
    body = {"external_id": "cust-7"}
    return world.server.post("/ai/client/visitor", body).json()["chats"][0]["text"]


def site_page(world: World, _: Message) -> Any:
    url = reverse("admin:chats_conversation_change", args=[world.chat.pk])
    return unescape(signed_in(world.ann.user).get(url).content.decode())


def site_list(world: World, _: Message) -> Any:
    url = reverse("admin:chats_conversation_changelist")
    return unescape(signed_in(world.ann.user).get(url).content.decode())


def search(world: World, _: Message) -> Any:
    return world.ann.get("/ai/chats", {"q": WORDS}).json()["items"] and WORDS


def models_transcript(world: World, _: Message) -> Any:
    return [line.text for line in transcripts.for_chat(world.chat).lines]


def translation(world: World, message: Message) -> Any:
    client_id = world.chat.client_id
    enqueue("chats.translate_message", client_id=client_id, message_id=str(message.pk), to="de")
    run_jobs()
    return str(world.model.requests[-1]["messages"])


# Where everything is seen, and where only texts are.
PLACES: dict[str, Callable[[World, Message], Any]] = {
    "API (view chats_api_message)": api,
    "transcript": transcript,
    "mail to a visitor": answer_mail,
    "customer's list of chats": visitors_list,
    "site, page of a chat": site_page,
    "site, list of chats": site_list,
}
TEXT_PLACES = {
    "search": search, "what models read": models_transcript, "translation": translation,
}  # fmt: skip


@pytest.fixture
def visited(page: Person, bot: Bot) -> Conversation:
    Bot.objects.update(mail_answers=True, export_enabled=True)
    customer = {"external_id": "cust-7", "name": "Zoe", "email": "zoe@example.com"}
    _, chat = visit(page)
    type(chat.customer).objects.filter(pk=chat.customer_id).update(**customer)
    Conversation.objects.update(assign_type="agent")
    return Conversation.objects.get()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", get_args(ContentType))
def test_each_kind_is_seen_in_every_place(kind, visited, server, ann, model):  # noqa: F811
    assert kind in KINDS, f"Add {kind} to KINDS in chats/schemas/content_kinds.py."
    ClientConfig.objects.update(auto_translate=True)
    model.json_answer = {"text": "Am Montag."}
    world = World(visited, server, ann, model)
    missing = []
    for message, words, is_text in said(visited, kind):
        places = PLACES | (TEXT_PLACES if is_text else {})
        missing += [name for name, see in places.items() if words not in see(world, message)]
    assert not missing, f"{kind} is missing in: {', '.join(missing)}"


@pytest.mark.django_db(transaction=True)
def test_a_kind_of_a_newer_release_is_read_like_a_text(visited, server, ann, model):  # noqa: F811
    with transaction.atomic():
        chat, author = conversations.lock(visited), messages.Author(SenderType.AGENT, None, "Ben")
        part = {"type": "poll", "text": WORDS, "choices": [1, 2]}
        message = messages.append(chat, author=author, content=[part], language="en")
    world = World(visited, server, ann, model)
    missing = [
        name for name, see in PLACES.items() if see != api and WORDS not in see(world, message)
    ]
    assert not missing


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", get_args(ContentType))
def test_each_kind_is_sent_by_a_channel(kind, telegram, telegram_bot, bot):  # noqa: F811
    Bot.objects.update(agent_reply=True)
    telegram.write("Is anybody there?")
    run_jobs()
    chat = Conversation.objects.get()
    for message, words, _ in said(chat, kind):
        run_jobs()
        message.refresh_from_db()
        assert message.status != "failed", f"{kind} is not sent: {message.error}"
        sent = [call["body"] for call in telegram.sim.calls(what="sends")]
        assert words in str(sent[-1]), f"{kind} says nothing in channels_app/services/sending.py"


@pytest.fixture
def shop(site_origin: str, page, bot, problems: list[str], screen: Page) -> Iterator[Shop]:
    yield from running(site_origin, page, bot, screen, problems)


def test_the_inbox_and_the_widget_show_each_kind(shop: Shop, screen: Page, problems, ben):
    """The inbox shows the newest message in its list, too. The widget has a form for `feedback`."""
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Hello")
    Conversation.objects.update(assign_type="agent", assignee=ben.user)
    chat = Conversation.objects.get()
    kinds = [kind for kind in get_args(ContentType) if kind != "feedback"]
    kinds.sort(key=lambda kind: bool(SAMPLES[kind].label))
    words = [[one.words for one in said(chat, kind)] for kind in kinds]
    labels = [label for _, *rest in words for label in rest]
    screen.frames[1].evaluate("dispatchEvent(new Event('online'))")
    texts = widget.locator(".message.agent", has_text=WORDS)
    expect(texts).to_have_count(len(kinds))
    for label in labels:
        # A picture below the fold is not loaded, so its name is not yet text.
        shown = widget.locator(".message.agent", has_text=label)
        expect(shown.or_(widget.get_by_alt_text(label)).last, label).to_be_attached()
    enter(screen, ben)
    show(screen, "Mine")
    expect(row(screen, labels[-1])).to_be_visible()
    row(screen, labels[-1]).click()
    expect(log(screen).locator(".message", has_text=WORDS)).to_have_count(len(kinds))
    for label in labels:
        expect(log(screen).locator(".message", has_text=label).last, label).to_be_visible()
    problems.clear()  # the picture is elsewhere
