"""What the bot and the desk make of what a channel tells besides a customer's words."""

import json
import re
from typing import get_args

import pytest

from bots.testing import make_bot
from chatplatform.templatetags.channel_lines import TEXTS
from chats.services.core import channel_context
from chats.services.reply import decide, gather
from chats.services.reply.decide import AskEngine, HandOver, NoReply
from chats.testing import make_chat, put_message
from identity.testing import signed_in

pytestmark = pytest.mark.django_db
PLACE = {"type": "location", "text": "Blue Shop", "location": {"latitude": 1.0, "longitude": 2.0}}
FILE = {"type": "image", "error": "too large"}


@pytest.fixture
def chat(client_a):
    return make_chat(make_bot(client_a), channel="chatapp")


def decision(chat, *parts, lines=(), **metadata):
    said = {"lines": [dict(line) for line in lines]} if lines else {}
    message = put_message(
        chat, "customer", content=list(parts), language="en", metadata={**said, **metadata}
    )
    return decide.from_facts(gather.facts_for(message, ()))


def text(words):
    return {"type": "text", "text": words}


@pytest.mark.parametrize("kind", ["quote", "product", "post", "reel"])
def test_a_question_is_asked_with_what_it_is_about(chat, kind):
    asked = decision(chat, text("Is it in stock?"), lines=[{"kind": kind, "text": "Chair 1"}])
    assert asked == AskEngine("Is it in stock? (Chair 1)")


def test_a_greeting_about_something_stays_a_greeting(chat):
    asked = decision(chat, text("Hello"), lines=[{"kind": "product", "text": "Chair 1"}])
    assert asked.receipt.kind == "greeting"


@pytest.mark.parametrize(
    "kind", ["advertisement", "link", "post_link", "story_reply", "forwarded_often"]
)
def test_what_led_a_customer_here_is_no_part_of_the_question(chat, kind):
    asked = decision(chat, text("Is it in stock?"), lines=[{"kind": kind, "text": "Spring"}])
    assert asked == AskEngine("Is it in stock?")


@pytest.mark.parametrize("kind", ["order", "contact", "answer", "form", "own_number"])
def test_an_order_is_for_people_whatever_stands_beside_it(chat, kind):
    handed = decision(chat, text("Please wrap it"), lines=[{"kind": kind, "text": "2 × A"}])
    assert handed == HandOver("unreadable")


@pytest.mark.parametrize("kind", ["story_mention", "missed_call", "call", "answered_call"])
def test_nobody_expects_an_answer_to_a_call(chat, kind):
    lines = [{"kind": kind}]
    assert channel_context.needs_no_reply(lines, text="", has_files=False)
    said = {"lines": lines, "no_words": True, "needs_no_reply": True}
    assert decision(chat, text("Said"), **said) == NoReply()


def test_a_picture_of_a_story_mention_is_not_answered(chat):
    lines = [{"kind": "story_mention"}]
    assert channel_context.needs_no_reply(lines, text="", has_files=True)
    assert decision(chat, FILE, lines=lines, needs_no_reply=True) == NoReply()


@pytest.mark.parametrize(
    ("part", "reason"), [(FILE, "files_only"), (PLACE, "unreadable")]
)  # fmt: skip
def test_files_only_is_said_of_files_alone(chat, part, reason):
    assert decision(chat, part) == HandOver(reason)


def test_what_a_channel_could_not_hand_over_is_for_people(chat):
    said = text("Sent something that can't be shown here: poll")
    lines = [{"kind": "unsupported", "text": "poll"}]
    assert decision(chat, said, lines=lines, no_words=True) == HandOver("unreadable")


@pytest.mark.parametrize("words", ["ok", "Okay", "👍", "❤️"])
def test_an_acknowledgement_on_a_channel_gets_no_greeting(chat, words):
    assert decision(chat, text(words)) == NoReply()


def test_lines_of_a_callers_own_metadata_may_be_anything(chat):
    for lines in ("x", [1, {"kind": "odd"}, {"kind": ["quote"]}, {"kind": "quote"}], {"kind": 1}):
        message = put_message(
            chat, "customer", content=[text("Is it in stock?")], language="en",
            metadata={"lines": lines},
        )  # fmt: skip
        asked = decide.from_facts(gather.facts_for(message, ()))
        assert asked == AskEngine("Is it in stock?")


def test_the_desk_has_the_words_of_each_kind_of_line_in_the_agents_language(ben):
    ben.user.language = "de"
    ben.user.save()
    page = signed_in(ben.user).get("/admin/desk/").content.decode()
    found = re.search(r'<script id="channel-lines"[^>]*>(.*?)</script>', page)
    assert found
    words = json.loads(found[1])
    assert words.keys() >= {*get_args(channel_context.Kind)}
    same = {kind for kind, text in words.items() if text == TEXTS[kind]}
    assert same == {"answer", "sticker"}
