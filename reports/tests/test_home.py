"""The site's home of a client: is all well, or what to do about it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from bots.models import Document
from bots.testing import make_bot
from chats.models import Conversation, Customer, Feedback, Message, text_content
from chats.testing import make_chat
from identity.models import (
    Client,
    ClientConfig,
    CreditEntry,
    Role,
    SavedView,
    Subscription,
    User,
)  # fmt: skip
from identity.testing import make_client, make_person, signed_in
from webhooks.models import WebhookConfig

HOME, CHATS = "/admin/", "/admin/chats/conversation/"
DISMISS = "/admin/steps/dismiss/"


@pytest.fixture
def chat(bot):
    own = {"client": bot.client}
    return Conversation.objects.create(
        **own,
        bot=bot,
        customer=Customer.objects.create(**own, name="Zoe"),
        language="en",
        assign_type="queue",
        waiting_since=timezone.now() - timedelta(minutes=2),
    )


@pytest.mark.full
def test_who_waits_is_shown_and_leads_to_the_chats(ann, chat):
    site = signed_in(ann.user)
    page = site.get(HOME)
    first = page.context["figures"][0]
    assert (first.title, first.value, first.note) == ("Waiting now", "1", "longest wait 2 min")
    assert [row.pk for row in site.get(first.path).context["cl"].queryset] == [chat.pk]
    for figure in page.context["figures"]:
        assert site.get(figure.path).status_code == 200, figure
    assert [hint.path for hint in page.context["warnings"]] == [first.path]
    Conversation.objects.update(waiting_since=timezone.now() - timedelta(minutes=20))
    (late,) = site.get(HOME).context["warnings"]
    assert "waiting=target" in late.path
    Conversation.objects.update(assign_type="bot", waiting_since=None)
    assert not site.get(HOME).context["warnings"]


def test_who_waits_at_an_agent_counts_as_waiting(ann, ben, chat):
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200
    Conversation.objects.update(waiting_since=timezone.now() - timedelta(minutes=20))
    page = signed_in(ann.user).get(HOME)
    (late,) = page.context["warnings"]
    assert late.text.startswith("1 ")
    assert page.context["figures"][0].value == "1"


@pytest.fixture
def week(bot):
    """Of each kind that the home counts two chats, and beside them what it does not count."""
    now = timezone.now()
    ended = {"status": "ended", "ended_at": now}
    waits = {"assign_type": "queue", "waiting_since": now - timedelta(minutes=30)}
    for _ in range(2):
        make_chat(bot, **waits)
        make_chat(bot, **waits | {"waiting_since": now - timedelta(minutes=3)})
        make_chat(bot, **ended)
        for stars in (1, 5):
            chat = make_chat(bot, handed_off_at=now, **ended)
            fields = {"client": bot.client, "conversation": chat, "sender_type": "agent"}
            answer = Message.objects.create(**fields, seq=1, text="Hi", content=text_content("Hi"))
            Feedback.objects.create(client=bot.client, conversation=chat, rating=stars)
            Feedback.objects.create(
                client=bot.client, conversation=chat, message=answer, rating=stars
            )
    for is_preview, at in ((True, now), (False, now - timedelta(days=8))):
        other = {"is_preview": is_preview, "created_at": at}
        chat = make_chat(bot, handed_off_at=now, **ended, **other)
        make_chat(bot, **ended, **other)
        fields = {"client": bot.client, "conversation": chat, "sender_type": "agent"}
        Message.objects.create(**fields, seq=1, text="Hi", content=text_content("Hi"))
        Feedback.objects.create(client=bot.client, conversation=chat, rating=1, created_at=at)
    make_chat(bot, is_preview=True, **waits)
    ClientConfig.objects.filter(client=bot.client).update(first_response_target_seconds=300)


COUNTS = {
    "Waiting now": 4, "Conversations": 10, "Resolved by the bot": 2,
    "First human response": 4, "Rating": 4,
    "2 conversations are past the target wait time": 2,
    "2 conversations are past half the target wait time": 2,
    "2 low ratings (1–2 stars) since yesterday": 2,
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("reader", ["of the client", "of the platform"])
def test_each_figure_and_warning_leads_to_just_its_rows(ann, week, reader):
    site, home = signed_in(ann.user), HOME
    if reader == "of the platform":
        make_chat(make_bot(make_client("other")))
        site.force_login(User.objects.create_superuser("staff@example.com", full_name="Staff"))
        home = reverse("client", args=[ann.client.pk])
    page = site.get(home).context
    shown = {item.title: item for item in page["figures"]} | {
        item.text: item for item in page["warnings"]
    }
    assert shown["Waiting now"].value == "4"
    assert (shown["Conversations"].value, shown["Resolved by the bot"].value) == ("10", "20%")
    assert shown["Rating"].note == "4 ratings"
    rows = {title: len(site.get(shown[title].path).context["cl"].queryset) for title in COUNTS}
    assert rows == COUNTS


@pytest.mark.parametrize(
    ("waited", "told"),
    [
        (timedelta(seconds=100), "1[0-9]{2} s"),
        (timedelta(minutes=14, seconds=45), "14 min"),
        (timedelta(minutes=119), "119 min"),
        (timedelta(hours=2, minutes=33), "2 h 33 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(hours=71), "2 days"),
    ],
)
def test_a_wait_is_told_as_long_as_it_was(ann, chat, waited, told):
    Conversation.objects.update(waiting_since=timezone.now() - waited)
    note = signed_in(ann.user).get(HOME).context["figures"][0].note
    assert re.fullmatch(f"longest wait {told}", note), note


def test_another_clients_chats_count_nowhere(cara, chat):
    page = signed_in(cara.user).get(HOME)
    assert "figures" not in page.context
    assert [step.is_done for step in page.context["steps"]] == [False] * 4


def test_a_new_client_sees_what_to_do_first(ann, ben, bot):
    # A test by the team counts as nothing.
    make_chat(bot, is_preview=True)
    page = signed_in(ann.user).get(HOME)
    assert "figures" not in page.context
    done = {step.text: step.is_done for step in page.context["steps"]}
    assert done == {
        "Create a bot": True,
        "Add content": False,
        "Install it on your website": False,
        "Invite a teammate": True,
    }


@pytest.mark.full
def test_the_first_steps_stay_until_they_are_dismissed(ann, cara, chat):
    vic = make_person(ann.client, Role.VIEWER, "Vic")
    viewer, owner, other = signed_in(vic.user), signed_in(ann.user), signed_in(cara.user)

    def shown():
        return [bool(site.get(HOME).context["steps"]) for site in (viewer, owner, other)]

    assert shown() == [True] * 3, "although a customer has written"
    assert viewer.get(DISMISS).status_code == 405
    viewer.post(DISMISS)
    assert shown() == [False, True, True], "a viewer decides for nobody else"
    owner.post(DISMISS)
    SavedView.objects.filter(user=vic.user).delete()
    assert shown() == [False, False, True]


def test_the_week_has_seven_days_of_the_clients_time_zone(ann, bot, time_machine):
    time_machine.move_to(datetime(2026, 11, 22, 20, tzinfo=UTC))
    ann.client.timezone = "Asia/Ho_Chi_Minh"  # where the 23rd has begun
    ann.client.save()
    for day in (9, 10, 16, 17, 22):
        chat = make_chat(bot, created_at=datetime(2026, 11, day, 5, tzinfo=UTC))
    Feedback.objects.create(client=bot.client, conversation=chat, rating=4)
    _, chats, *_, rating, _ = signed_in(ann.user).get(HOME).context["figures"]
    assert (chats.value, chats.note) == ("2", "2 last week")
    assert (rating.value, rating.note) == ("4.0 out of 5", "1 rating")


@pytest.mark.full
def test_credits_last_no_longer_than_the_trial(ann, chat, time_machine):
    time_machine.move_to(datetime(2026, 11, 25, 20, tzinfo=UTC))
    Client.objects.filter(pk=ann.client.pk).update(timezone="Asia/Ho_Chi_Minh")
    used = CreditEntry.objects.create(
        client=ann.client, kind="reserve", amount=-70, balance_after=930, reference="reply:1",
        created_at=timezone.now(),
    )  # fmt: skip
    ends = datetime(2026, 12, 25, 18, tzinfo=UTC)  # there the 26th has begun
    account = Subscription.objects.filter(client=ann.client)

    def note(**fields):
        account.update(**fields)
        return signed_in(ann.user).get(HOME).context["figures"][-1].note

    assert note(credits_left=1000, period_end=ends) == "trial ends on 26 Dec 2026"
    assert note(credits_left=100) == "will last until 6 Dec 2026 at your current rate"
    lasting = "will last until 6 Mar 2027 at your current rate"
    assert note(credits_left=1000, plan="standard") == lasting
    assert note(credits_left=1_000_000) == ""
    used.delete()
    assert note() == "none used in the last 7 days"
    assert note(plan="trial") == "trial ends on 26 Dec 2026"
    assert note(plan="unlimited") == "Unlimited credits"
    assert note(is_active=False) == "Your plan has ended"


@pytest.mark.full
def test_what_failed_is_shown_to_whoever_may_see_it(ann, chat, bot):
    Document.objects.create(client=bot.client, bot=bot, file_name="a.pdf", mime_type="x",
                            size_bytes=1, sha256="0" * 64, status="failed")  # fmt: skip
    WebhookConfig.objects.create(
        client=bot.client, url="https://x.example/", is_active=False, disabled_reason="failing"
    )
    Conversation.objects.update(assign_type="bot", waiting_since=None)
    page = signed_in(ann.user).get(HOME)
    assert [hint.text for hint in page.context["warnings"]] == [
        "1 webhook is failing or off", "1 document couldn't be read",
    ]  # fmt: skip
    viewer = signed_in(make_person(ann.client, Role.VIEWER, "Vic").user)
    shown = viewer.get(HOME).context["warnings"]
    assert [hint.text for hint in shown] == ["1 document couldn't be read"]
    assert viewer.get(shown[0].path).status_code == 200
    assert b">Vic<" in viewer.get(HOME).content.replace(b" ", b"").replace(b"\n", b"")


def test_chats_are_found_by_words_of_their_messages(ann, cara, chat):
    Message.objects.create(
        client=chat.client, conversation=chat, seq=1, sender_type="customer",
        text="my kettle leaks", content=text_content("my kettle leaks"),
    )  # fmt: skip
    site = signed_in(ann.user)
    assert [row.pk for row in site.get(f"{CHATS}?q=kettle").context["cl"].queryset] == [chat.pk]
    assert not site.get(f"{CHATS}?q=toaster").context["cl"].queryset
    assert not signed_in(cara.user).get(f"{CHATS}?q=kettle").context["cl"].queryset
