"""telegram: a bot is connected with its token, customers write to it, and answers go out."""

import json

import pytest
from django.test import Client as Browser
from django.urls import reverse

from bots.testing import make_bot
from channels_app.models import ChannelConnection, InboundCallback, OutboundSend
from channels_app.tests.helpers import BOT, post_signed
from chatplatform.testing import at_once, run_before, run_jobs
from chats.models import Conversation, Message

pytestmark = pytest.mark.django_db(transaction=True)
HOOK = f"/telegram/webhook/{BOT}"
SECRET = "X-Telegram-Bot-Api-Secret-Token"


@pytest.fixture
def agents_chat(telegram_bot, telegram, bot):
    """A chat of the customer "an" that waits for an agent."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    telegram.write("Is anybody there?")
    run_jobs()
    return Conversation.objects.get()


def send(telegram, chat, status=201, **body):
    """What the provider has after a message of an agent."""
    reply = telegram.ann.post(
        telegram.bot_path("messages"), {"conversation_id": str(chat.pk), **body}
    )
    assert reply.status_code == status, reply.content
    run_jobs()
    return telegram.sim.replies(BOT, "an")


def update(**what):
    return {"update_id": 900000001, **what}


# --- the account ------------------------------------------------------------------------------


def test_a_bot_is_connected_with_its_token(telegram, telegram_bot):
    (hook,) = telegram.sim.calls(path="setWebhook")
    assert hook["body"]["url"].endswith(HOOK)
    assert (telegram_bot.status, telegram_bot.account_id) == ("connected", BOT)
    assert telegram_bot.account_name == "Blue Shop (@blue_shop_bot)"
    assert telegram_bot.token_expires_at is None
    shown = telegram.ann.get(telegram.bot_path("connection")).json()
    assert (shown["status"], shown["account_id"]) == ("connected", BOT)
    assert telegram_bot.access_token not in json.dumps(shown)
    assert telegram_bot.secret not in json.dumps(shown)


@pytest.mark.parametrize("token", ["7100000001:AAwrong", "no token at all", "a/../b?c#d"])
def test_a_wrong_token_is_refused(telegram, token):
    reply = telegram.ann.post(telegram.bot_path("connect"), {"token": token})
    assert reply.status_code == 422
    assert "token" in reply.content.decode()
    assert not ChannelConnection.objects.exists()
    assert not telegram.sim.calls(path="setWebhook")


def test_a_bot_belongs_to_one_bot(telegram, telegram_bot, ann, cara):
    token = telegram.sim.token("telegram", BOT)
    other = make_bot(ann.client)
    taken = ann.post(f"/telegram/{ann.client.pk}/connect/{other.pk}", {"token": token})
    assert (taken.status_code, taken.json()["code"]) == (409, "account_taken")
    second = {"token": telegram.sim.token("telegram", "7100000002")}
    has_one = ann.post(telegram.bot_path("connect"), second)
    assert (has_one.status_code, has_one.json()["code"]) == (409, "bot_has_account")
    assert len(telegram.sim.calls(path="setWebhook")) == 1
    assert cara.post(telegram.bot_path("connect"), {"token": token}).status_code == 404
    again = ann.post(telegram.bot_path("connect"), {"token": token})
    assert (again.status_code, again.json()["id"]) == (200, str(telegram_bot.pk))


def test_of_two_clients_that_connect_a_bot_at_once_one_has_it(telegram, ann, cara):
    token = {"token": telegram.sim.token("telegram", BOT)}
    theirs = f"/telegram/{cara.client.pk}/connect/{make_bot(cara.client).pk}"
    first, second = at_once(
        lambda: ann.post(telegram.bot_path("connect"), token), lambda: cara.post(theirs, token)
    )
    won, lost = sorted((first, second), key=lambda reply: reply.status_code)
    assert (won.status_code, won.json()["status"]) == (200, "connected")
    assert (lost.status_code, lost.json()["code"]) == (409, "account_taken")
    assert len(telegram.sim.calls(path="setWebhook")) == 1
    connection = ChannelConnection.objects.get(status="connected")
    assert str(connection.pk) == won.json()["id"]
    # The provider has the secret that is stored.
    telegram.write("Is anybody there?")
    run_jobs()
    assert Conversation.objects.get().client_id == connection.client_id


def test_a_disconnected_bot_is_silent_and_its_chats_go_on(telegram, telegram_bot, agents_chat):
    path = telegram.bot_path("disconnect")
    assert telegram.ann.put(path).json()["status"] == "disconnected"
    assert telegram.sim.calls(path="deleteWebhook")
    telegram_bot.refresh_from_db()
    assert (telegram_bot.access_token, telegram_bot.secret) == ("", "")
    assert post_signed(telegram.ann, HOOK, update()).status_code == 401
    send(telegram, agents_chat, 409, text="Ann here.")
    token = {"token": telegram.sim.token("telegram", BOT)}
    assert telegram.ann.post(telegram.bot_path("connect"), token).status_code == 200
    assert send(telegram, agents_chat, text="Ann here.")[-1]["text"] == "Ann here."


def test_the_late_end_of_updates_does_not_end_those_of_the_next_bot(telegram, telegram_bot, ann):
    other = make_bot(ann.client)
    token = {"token": telegram.sim.token("telegram", BOT)}

    def connect_the_other():
        path = f"/telegram/{ann.client.pk}/connect/{other.pk}"
        assert ann.post(path, token).status_code == 200

    with run_before("channels_app.services.connections.subscribing", connect_the_other):
        ann.put(telegram.bot_path("disconnect"))
    assert not telegram.sim.calls(path="deleteWebhook")


def test_a_revoked_token_expires_the_connection(telegram, telegram_bot, agents_chat):
    telegram.sim.end_tokens(account=BOT)
    send(telegram, agents_chat, text="Ann here.")
    telegram_bot.refresh_from_db()
    assert telegram_bot.status == "expired"
    assert Message.objects.latest("pk").status == "failed"


# --- callbacks --------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, {SECRET: ""}, {SECRET: "wrong"}])
def test_only_the_account_s_own_secret_counts(telegram_bot, nobody, headers):
    reply = nobody.browser.post(HOOK, "{}", content_type="application/json", headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (401, "bad_signature")
    other = HOOK.replace(BOT, "7100000009")
    named = nobody.browser.post(
        other, "{}", content_type="application/json", headers={SECRET: telegram_bot.secret}
    )
    assert named.status_code == 401
    assert not InboundCallback.objects.exists()


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"no JSON", b'{"message": 5}'])
def test_any_body_with_the_secret_is_accepted(telegram_bot, nobody, body):
    assert post_signed(nobody, HOOK, body).status_code == 200
    assert InboundCallback.objects.get().path == HOOK
    run_jobs()
    assert not Message.objects.exists()


def test_a_message_that_comes_twice_is_stored_once(telegram, telegram_bot):
    telegram.sim.modes(duplicate=2, unknown_fields=True, missing_optional=True)
    telegram.write("Hello there, do you deliver on Sundays?")
    telegram.settle()
    assert Message.objects.filter(sender_type="customer").count() == 1
    chat = Conversation.objects.get()
    assert (chat.channel, chat.customer.name) == ("telegram", "An")
    assert chat.reply_window_expires_at is None


def test_the_bot_greets_who_presses_start(telegram, telegram_bot):
    telegram.act("start")
    telegram.settle()
    assert len(telegram.replies()) == 1
    assert Conversation.objects.get().assign_type == "bot"


@pytest.mark.full
def test_a_customer_s_files_are_fetched_with_the_token(telegram, agents_chat):
    for kind in ("image", "audio", "video", "file", "sticker"):
        telegram.act(kind)
    telegram.settle()
    parts = [part for row in Message.objects.order_by("pk") for part in row.content]
    files = [part for part in parts if part["type"] != "text"]
    assert [part["type"] for part in files] == ["image", "audio", "video", "file", "image"]
    assert all(part.get("attachment_id") for part in files), files
    assert "price-list" in json.dumps(files)


def test_a_number_that_is_shared_later_is_on_the_card(telegram, agents_chat, nobody):
    user = int(telegram.sim.thread(BOT, "an")["user_id"])
    card = {"phone_number": "+84905550002", "first_name": "An", "user_id": user}
    message = {
        "message_id": 900, "from": {"id": user}, "chat": {"id": user}, "date": 1795227621,
        "contact": card,
    }  # fmt: skip
    assert post_signed(nobody, HOOK, update(message=message)).status_code == 200
    run_jobs()
    assert Conversation.objects.get().customer.phone == "+84905550002"


@pytest.mark.parametrize("words", ["For your kind help", ""])
def test_a_gift_is_shown_with_its_words(telegram, agents_chat, nobody, words):
    user = int(telegram.sim.thread(BOT, "an")["user_id"])
    message = {
        "message_id": 900, "from": {"id": user}, "chat": {"id": user}, "date": 1795227621,
        "gift": {"gift": {"id": "5", "star_count": 15}, "text": words},
    }  # fmt: skip
    assert post_signed(nobody, HOOK, update(message=message)).status_code == 200
    run_jobs()
    shown = Message.objects.filter(sender_type="customer").latest("seq").text
    assert shown == words if words else shown


@pytest.mark.parametrize(
    ("shared", "shown"),
    [
        (
            {"users_shared": {"request_id": 1, "users": [
                {"user_id": 42, "first_name": "Mai", "last_name": "Le", "username": "mai"},
                {"user_id": 43},
            ]}},
            ["Mai Le, @mai", "43"],
        ),
        ({"chat_shared": {"request_id": 2, "chat_id": -1007, "title": "Club"}}, ["Club, -1007"]),
    ],
)  # fmt: skip
def test_shared_users_and_chats_are_shown_like_contacts(
    telegram, agents_chat, nobody, shared, shown
):
    user = int(telegram.sim.thread(BOT, "an")["user_id"])
    message = {
        "message_id": 900, "from": {"id": user}, "chat": {"id": user}, "date": 1795227621, **shared,
    }  # fmt: skip
    assert post_signed(nobody, HOOK, update(message=message)).status_code == 200
    run_jobs()
    stored = Message.objects.filter(sender_type="customer").latest("seq").metadata["lines"]
    assert stored == [{"kind": "contact", "text": text} for text in shown]


def test_who_blocks_the_bot_gets_nothing_until_that_ends(telegram, agents_chat):
    telegram.act("gone")
    run_jobs()
    shown = telegram.ann.get(f"/ai/chat/{agents_chat.pk}").json()
    assert shown["can_reply"] is False
    send(telegram, agents_chat, 409, text="Are you there?")
    telegram.act("back")
    run_jobs()
    assert telegram.ann.get(f"/ai/chat/{agents_chat.pk}").json()["can_reply"] is True
    assert send(telegram, agents_chat, text="Welcome back.")[-1]["text"] == "Welcome back."
    assert Message.objects.filter(is_note=True).count() == 2


# --- what goes out ----------------------------------------------------------------------------


def test_a_tapped_button_is_a_message_and_ends_its_wait(telegram, agents_chat):
    options = [{"label": "Size 41", "value": "s41"}, {"label": "Size 42", "value": "s42"}]
    (sent,) = send(
        telegram, agents_chat, content=[{"type": "text", "text": "Which?", "options": options}]
    )
    (row, second) = sent["body"]["sent"]["reply_markup"]["inline_keyboard"]
    assert (row, len(second)) == ([{"text": "Size 41", "callback_data": "s41"}], 1)
    telegram.act("button", payload="s42")
    run_jobs()
    (last,) = telegram.sim.deliveries(account=BOT)[-1:]
    answer = json.loads(last["answer"])
    assert answer["method"] == "answerCallbackQuery"
    assert answer["callback_query_id"] == last["json"]["callback_query"]["id"]
    tapped = Message.objects.latest("pk")
    assert (tapped.text, tapped.metadata["payload"]) == ("Size 42", "s42")


@pytest.mark.parametrize("value", ["x" * 65, "ü" * 33])
def test_choices_that_do_not_fit_become_lines(telegram, agents_chat, value):
    options = [{"label": "Red", "value": "red"}, {"label": "Blue", "value": value}]
    (sent,) = send(
        telegram, agents_chat, content=[{"type": "text", "text": "Which?", "options": options}]
    )
    assert sent["text"] == "Which?\n1. Red\n2. Blue"


def test_a_long_text_is_split_where_the_provider_counts(telegram, agents_chat):
    sent = send(telegram, agents_chat, text="😀" * 2500)
    assert [len(message["text"]) for message in sent] == [2048, 452]
    ids = list(OutboundSend.objects.values_list("provider_message_id", flat=True))
    user = telegram.sim.thread(BOT, "an")["user_id"]
    assert all(str(entry).startswith(f"{user}:") for entry in ids)


def test_a_picture_that_is_refused_goes_out_as_a_document(telegram, agents_chat):
    telegram.act("image")
    run_jobs()
    picture = Message.objects.filter(sender_type="customer").latest("seq").content[0]
    telegram.sim.fault("code", what="sends", code=400)
    url = f"/ai/attachment/{picture['attachment_id']}"
    (sent,) = send(telegram, agents_chat, content=[{"type": "image", "url": url}])
    assert "document" in sent["body"]["sent"]
    methods = [call["path"].rpartition("/")[2] for call in telegram.sim.calls(what="sends")]
    assert methods == ["sendPhoto", "sendDocument"]


def test_a_text_is_the_caption_of_the_picture_after_it(telegram, agents_chat):
    url = f"{telegram.sim.origin}/media/sample-image/p.jpg"
    for text in ("😀" * 512, "😀" * 513):
        content = [{"type": "text", "text": text}, {"type": "image", "url": url}]
        send(telegram, agents_chat, content=content)
    calls = telegram.sim.calls(what="sends")
    sent = [(call["path"].rpartition("/")[2], call["body"].get("caption")) for call in calls]
    assert sent == [("sendPhoto", "😀" * 512), ("sendMessage", None), ("sendPhoto", None)]


def test_an_answer_names_its_message(telegram, agents_chat):
    path = telegram.bot_path("messages")
    telegram.ann.post(path, {"conversation_id": str(agents_chat.pk), "text": "Yes."})
    question = Message.objects.get(sender_type="customer")
    Message.objects.filter(sender_type="agent").update(in_reply_to=question)
    run_jobs()
    (sent,) = telegram.sim.replies(BOT, "an")
    assert sent["body"]["sent"]["reply_parameters"]["message_id"] == 1


def test_typing_is_shown_and_nothing_is_marked_as_read(telegram, telegram_bot):
    telegram.write("Hello there, do you deliver on Sundays?")
    run_jobs()
    actions = telegram.sim.calls(what="actions")
    assert {call["body"]["action"] for call in actions} == {"typing"}
    assert all(":" not in call["path"] for call in telegram.sim.calls(channel="telegram"))


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ({"kind": "recipient_gone"}, "failed"),
        ({"kind": "code", "code": 400}, "failed"),
        ({"kind": "reset_after"}, "pending"),
        ({"kind": "code", "code": 500}, "pending"),
        ({"kind": "reset_before"}, "pending"),
    ],
)
def test_what_follows_from_a_refusal(telegram, agents_chat, fault, status):
    telegram.sim.fault(what="sends", **fault)
    send(telegram, agents_chat, text="Ann here.")
    assert Message.objects.latest("pk").status == status


def test_a_limit_of_calls_pauses_the_account(telegram, telegram_bot, agents_chat):
    telegram.sim.fault("code", what="sends", code=429)
    send(telegram, agents_chat, text="Ann here.")
    telegram_bot.refresh_from_db()
    assert telegram_bot.paused_until
    assert Message.objects.latest("pk").status == "pending"


# --- the site ---------------------------------------------------------------------------------


@pytest.fixture
def site(ann):
    browser = Browser(SERVER_NAME="localhost")
    browser.force_login(ann.user)
    return browser


@pytest.mark.full
def test_an_owner_connects_and_disconnects_on_the_site(site, sim, bot, telegram):
    page = reverse("channel_connect", args=["telegram"])
    own = reverse("channel_account", args=["telegram", bot.pk])
    assert page in site.get(reverse("channels")).content.decode()
    assert 'name="token"' in site.get(page).content.decode()
    wrong = site.post(page, {"bot_id": bot.pk, "token": "7100000001:AAwrong"})
    assert "data-refused" in wrong.content.decode()
    assert not ChannelConnection.objects.exists()
    token = f" {sim.token('telegram', BOT)}\n"
    assert site.post(page, {"bot_id": bot.pk, "token": token})["Location"] == own
    assert ChannelConnection.objects.get().status == "connected"
    telegram.write("Hello")
    run_jobs()
    shown = site.get(own).content.decode()
    assert "data-came" in shown
    assert token.strip() not in shown
    sim.end_tokens(account=BOT)
    ChannelConnection.objects.update(status="expired")
    again = site.post(own, {"form": "again"})["Location"]
    assert again == f"{page}?bot_id={bot.pk}"
    assert f'<option value="{bot.pk}" selected' in site.get(again).content.decode()
    new = {"bot_id": bot.pk, "token": sim.token("telegram", BOT)}
    assert site.post(page, new)["Location"] == own
    assert site.post(own, {"form": "disconnect"})["Location"] == own
    assert ChannelConnection.objects.get().status == "disconnected"
