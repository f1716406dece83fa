"""What does not happen outside of business hours, and what the customer is told."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from bots.language.phrasebook import all_books
from bots.testing import make_bot
from chatplatform.live import valkey
from chatplatform.testing import run_jobs
from chats import tasks
from chats.models import Conversation, Message, Notification
from chats.services.core import presence
from chats.testing import make_chat
from identity.testing import make_person
from webhooks.models import Event

UNKNOWN = "Who won the chess olympiad of 1972 in Skopje?"
CLOSED = "We are back tomorrow."


def now():
    return timezone.now()


def closed_today():
    """Hours that hold on the weekday of the day before yesterday only."""
    weekday = (now() - timedelta(days=2)).weekday()
    return [{"weekday": weekday, "opens": "00:00", "closes": "24:00"}]


@pytest.fixture
def set_hours(client_a):
    def choose(**fields):
        fields = {"business_hours": closed_today(), **fields}
        for name, value in fields.items():
            setattr(client_a.config, name, value)
        client_a.config.save()

    return choose


def write(caller, chat, text="Hello?"):
    reply = caller.post(f"/ai/client/chat/{chat.pk}", {"text": text, "reply": "none"})
    assert reply.status_code < 300, reply.content


def told(chat):
    rows = Message.objects.filter(conversation=chat, sender_type="system")
    return [row.text for row in rows.order_by("seq")]


# --- assignment ---------------------------------------------------------------------------------


def test_a_chat_is_assigned_when_it_opens_and_not_before(ben, server, bot, set_hours):
    set_hours(assign_strategy="round_robin")
    presence.touch(ben.user)
    chat = make_chat(bot)
    server.post(f"/ai/client/chat/{chat.pk}", {"text": UNKNOWN, "reply": "async"})
    run_jobs()
    tasks.run_timers()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee) == ("queue", None)
    assert not Event.objects.filter(type="conversation.assigned").exists()
    set_hours(business_hours=[])
    tasks.run_timers()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee) == ("agent", ben.user)


def test_each_bot_has_its_own_hours(ben, bot, client_a, set_hours):
    set_hours(assign_strategy="least_busy")
    presence.touch(ben.user)
    open_bot = make_bot(client_a, bot_name="Night shift", business_hours=[])
    closed = make_chat(bot, assign_type="queue", waiting_since=now() - timedelta(hours=2))
    opened = make_chat(open_bot, assign_type="queue", waiting_since=now() - timedelta(hours=1))
    tasks.run_timers()
    closed.refresh_from_db()
    opened.refresh_from_db()
    assert (closed.assignee, opened.assignee) == (None, ben.user)


def test_a_person_may_take_a_chat_at_any_time(ben, bot, set_hours):
    set_hours()
    chat = make_chat(bot, assign_type="queue")
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200


# --- the clock of the first response ------------------------------------------------------------


def warned():
    rows = Notification.objects.filter(kind="unanswered")
    return set(rows.values_list("conversation", flat=True))


def test_nobody_waits_too_long_while_it_is_closed(ann, bot, set_hours):
    set_hours(first_response_target_seconds=300)
    chat = make_chat(bot, assign_type="queue", waiting_since=now() - timedelta(hours=12))
    tasks.run_timers()
    assert warned() == set()
    set_hours(business_hours=[])
    tasks.run_timers()
    assert warned() == {chat.pk}


def test_only_time_in_business_hours_counts(ann, bot, set_hours):
    # Open for the last ten minutes, or from midnight on if that is later.
    at = now()
    opens = max(at - timedelta(minutes=10), at.replace(hour=0, minute=0))
    hours = [{"weekday": at.weekday(), "opens": f"{opens:%H:%M}", "closes": "24:00"}]
    minutes_open = (at - opens.replace(second=0, microsecond=0)).total_seconds() / 60
    set_hours(business_hours=hours, first_response_target_seconds=int(minutes_open * 60) + 3600)
    early = make_chat(bot, assign_type="queue", waiting_since=at - timedelta(hours=20))
    tasks.run_timers()
    assert warned() == set()
    set_hours(business_hours=hours, first_response_target_seconds=1)
    late = make_chat(bot, assign_type="queue", waiting_since=at - timedelta(seconds=1))
    if minutes_open > 1:
        tasks.run_timers()
        assert warned() == {early.pk, late.pk}
        tasks.run_timers()
        assert Notification.objects.filter(kind="unanswered").count() == 2, "once for each wait"


# --- who is there -------------------------------------------------------------------------------


def test_the_widget_is_told_how_many_agents_are_online(page, ann, ben, cara):
    valkey.shared().delete(presence._key(ann.client.pk))
    config = "/ai/bot/config"
    assert page.get(config).json()["agents_online"] == 0
    for person in (ben, ann, make_person(ann.client, "viewer", "Vic"), cara):
        assert person.user
        presence.touch(person.user)
    assert page.get(config).json()["agents_online"] == 2
    ben.put("/identity/users/me", {"is_away": True})
    assert page.get(config).json()["agents_online"] == 1


def test_the_widget_is_told_how_soon_people_usually_answer(page, server, ann, ben, bot):
    config = "/ai/bot/config"
    assert page.get(config).json()["usual_wait_minutes"] is None
    for minutes in (1, 2, 4, 90, 90):
        assert page.get(config).json()["usual_wait_minutes"] is None
        chat = make_chat(bot, assign_type="queue")
        write(server, chat)
        ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Here I am"})
        ago = timezone.now() - timedelta(minutes=minutes)
        type(chat).objects.filter(pk=chat.pk).update(handed_off_at=ago)
    assert page.get(config).json()["usual_wait_minutes"] is None, "it is kept for ten minutes"
    cache.clear()
    assert page.get(config).json()["usual_wait_minutes"] == 4


# --- what the customer is told ------------------------------------------------------------------


def test_a_customer_who_writes_to_people_is_told_once(server, bot, set_hours):
    set_hours(out_of_hours_message={"en": CLOSED})
    chat = make_chat(bot, assign_type="queue")
    write(server, chat)
    write(server, chat, "Is anybody there?")
    assert told(chat) == [CLOSED]
    row = Message.objects.get(conversation=chat, sender_type="system")
    assert row.seq == 2
    assert Event.objects.filter(type="message.created").count() == 3
    assert Conversation.objects.get(pk=chat.pk).first_response_at is None


def test_a_handover_that_said_so_is_not_followed_by_the_same_words(server, bot, set_hours):
    set_hours(out_of_hours_message={"en": CLOSED})
    chat = make_chat(bot)
    server.post(f"/ai/client/chat/{chat.pk}", {"text": UNKNOWN, "reply": "async"})
    run_jobs()
    write(server, chat)
    assert told(chat) == [CLOSED]


def test_a_handover_says_that_it_is_closed_also_without_words_of_the_clients_own(
    server, bot, set_hours
):
    set_hours(out_of_hours_message={})
    chat = make_chat(bot)
    server.post(f"/ai/client/chat/{chat.pk}", {"text": UNKNOWN, "reply": "async"})
    run_jobs()
    assert told(chat) == [all_books()["en"].says["closed"]]


def test_told_again_after_it_was_open(server, bot, set_hours):
    set_hours(out_of_hours_message={"en": CLOSED})
    chat = make_chat(bot, assign_type="queue")
    write(server, chat)
    Message.objects.filter(conversation=chat).update(created_at=now() - timedelta(days=2))
    write(server, chat)
    assert told(chat) == [CLOSED, CLOSED]


def test_the_words_are_in_the_customers_language(server, bot, set_hours):
    set_hours(out_of_hours_message={"en": CLOSED, "vi": "Mai chúng tôi trở lại."})
    chat = make_chat(bot, assign_type="queue", language="vi")
    write(server, chat, "Có ai ở đó không? Tôi cần giúp đỡ.")
    assert told(chat) == ["Mai chúng tôi trở lại."]


def test_the_words_say_when_it_opens(server, bot, set_hours, time_machine):
    words = {"en": "Back on {opens}.", "vi": "Gặp lại {opens}."}
    monday = [{"weekday": 0, "opens": "09:00", "closes": "17:00"}]
    set_hours(out_of_hours_message=words, business_hours=monday)
    time_machine.move_to(datetime(2026, 11, 28, 12, 0, tzinfo=UTC))  # a Saturday
    english = make_chat(bot, assign_type="queue")
    write(server, english)
    assert told(english) == ["Back on Monday, 09:00."]
    vietnamese = make_chat(bot, assign_type="queue", language="vi")
    write(server, vietnamese, "Có ai ở đó không? Tôi cần giúp đỡ.")
    assert told(vietnamese) == ["Gặp lại Thứ 2, 09:00."]
    holiday = {"date": "2026-11-30", "name": "", "hours": []}
    set_hours(out_of_hours_message=words, business_hours=monday, holidays=[holiday])
    later = make_chat(bot, assign_type="queue")
    write(server, later)
    assert told(later) == ["Back on Monday 7 December, 09:00."]


@pytest.mark.parametrize(
    ("zone", "opening"),
    [
        ("Europe/Berlin", "Monday, 09:00"),
        ("Europe/Paris", "Monday, 09:00"),
        ("Asia/Tokyo", "Monday, 17:00 (09:00 Central European Time)"),
        ("Pacific/Honolulu", "Sunday, 22:00 (Monday, 09:00 Central European Time)"),
        ("Mars/Base", "Monday, 09:00"),
        (None, "Monday, 09:00"),
    ],
)
def test_the_opening_is_told_in_the_customers_time_zone(
    server, bot, set_hours, time_machine, zone, opening
):
    monday = [{"weekday": 0, "opens": "09:00", "closes": "17:00"}]
    set_hours(out_of_hours_message={"en": "Back on {opens}."}, business_hours=monday)
    type(bot.client).objects.filter(pk=bot.client_id).update(timezone="Europe/Berlin")
    time_machine.move_to(datetime(2026, 11, 28, 12, 0, tzinfo=UTC))  # a Saturday
    body = {"channel": "web", "location": {"timezone": zone}}
    reply = server.post("/ai/client/chat", body)
    assert reply.status_code == 201
    chat = Conversation.objects.get(pk=reply.json()["id"])
    known = None if zone == "Mars/Base" else zone
    assert (reply.json()["location"] or {}).get("timezone") == known
    Conversation.objects.filter(pk=chat.pk).update(assign_type="queue")
    write(server, chat)
    assert told(chat) == [f"Back on {opening}."]


def test_the_companys_zone_is_named_in_the_customers_language(server, bot, set_hours, time_machine):
    monday = [{"weekday": 0, "opens": "09:00", "closes": "17:00"}]
    set_hours(out_of_hours_message={"vi": "Gặp lại {opens}."}, business_hours=monday)
    type(bot.client).objects.filter(pk=bot.client_id).update(timezone="Asia/Ho_Chi_Minh")
    time_machine.move_to(datetime(2026, 11, 28, 12, 0, tzinfo=UTC))  # a Saturday
    chat = make_chat(bot, assign_type="queue", language="vi", location={"timezone": "Asia/Tokyo"})
    write(server, chat, "Có ai ở đó không? Tôi cần giúp đỡ.")
    assert told(chat) == ["Gặp lại Thứ 2, 11:00 (09:00 Giờ Việt Nam)."]


def test_who_is_told_nothing(ben, server, bot, set_hours):
    with_bot = make_chat(bot)
    answered = make_chat(bot, assign_type="queue")
    set_hours(out_of_hours_message={"en": CLOSED})
    ben.post(f"/ai/chat/{answered.pk}/assign", {"assign_type": "agent"})
    ben.post(f"/ai/chat/{answered.pk}/manual", {"text": "I am here."})
    for chat in (with_bot, answered):
        write(server, chat)
        assert told(chat) == []
    queued = make_chat(bot, assign_type="queue")
    set_hours(out_of_hours_message={})
    write(server, queued)
    set_hours(out_of_hours_message={"en": CLOSED}, business_hours=[])
    write(server, queued)
    assert told(queued) == []


def test_a_bots_own_hours_decide(server, bot, set_hours):
    set_hours(out_of_hours_message={"en": CLOSED})
    type(bot).objects.update(business_hours=[])
    chat = make_chat(bot, assign_type="queue")
    write(server, chat)
    assert told(chat) == []


def test_by_the_messaging_interface_too(server, bot, set_hours):
    set_hours(out_of_hours_message={"en": CLOSED})
    chat = make_chat(bot, assign_type="queue")
    path = f"/mesaging/conversations/{chat.pk}/messages"
    past = (now() - timedelta(days=1)).isoformat()
    for more in ({"sent_at": past}, {}, {}):
        body = {"sender": {"type": "customer"}, "text": "Hello?", **more}
        assert server.post(path, body).status_code == 201
        assert told(chat) == ([] if more else [CLOSED])
