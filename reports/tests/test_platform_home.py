"""The platform's staff: their home, the page of a client, and lists of one client's rows."""

from typing import Any

import pytest
from django.urls import reverse

from bots.models import WebUrl
from bots.testing import make_bot
from chatplatform.models import Job
from chats.models import Message, text_content
from chats.services.insight import question_groups
from chats.testing import make_chat
from identity.models import Client, CreditOrder, User
from identity.testing import signed_in

BOTS = reverse("admin:bots_bot_changelist")


@pytest.fixture
def site(db):
    return signed_in(User.objects.create_superuser("staff@example.com", full_name="Staff"))


def figures(page: Any) -> dict[str, Any]:
    return {item.title: item for item in page.context["figures"]}


@pytest.mark.full
def test_home_says_what_needs_the_staff(site, ann, cara):
    Client.objects.filter(pk=cara.client.pk).update(is_disabled=True)
    CreditOrder.objects.create(client=ann.client, amount=5, reference="x")
    Job.objects.create(name="x.y", client_id=ann.client.pk, state="dead", last_error="Disk full")
    page = site.get("/admin/")
    shown = figures(page)
    assert (shown["Companies"].value, shown["Companies"].note) == (
        "2", "2 new this week, 1 disabled",
    )  # fmt: skip
    assert shown["Pending credit orders"].value == "1"
    assert shown["Failed jobs"].value == "1"
    assert "database" not in shown["Health"].note
    assert "1 × Failed jobs" in page.content.decode()
    for item in shown.values():
        assert site.get(item.path).status_code == 200
    parts = site.get(shown["Health"].path).content.decode()
    assert "Platform health" in parts
    assert "Working" in parts


@pytest.mark.full
def test_the_page_of_a_client_leads_to_its_rows_alone(site, ann, cara):
    make_bot(ann.client, bot_name="Ours")
    make_bot(cara.client, bot_name="Foreign")
    change = reverse("admin:identity_client_overview", args=[ann.client.pk])
    page = site.get(change, follow=True)
    assert ann.client.name in page.content.decode()
    links = [item["link"] for group in page.context["groups"] for item in group["pages"]]
    links += [entry.path for entry in page.context["figures"]]
    assert len(links) > 20
    mine = f"client__id__exact={ann.client.pk}"
    assert {link for link in links if mine not in link} == set()
    assert {link for link in links if site.get(link).status_code != 200} == set()
    listed = site.get(f"{BOTS}?{mine}").content.decode()
    assert "Ours" in listed
    assert "Foreign" not in listed
    assert "Showing one company only" in listed
    deliveries = reverse("admin:webhooks_delivery_changelist")
    assert f"{deliveries}?{mine}" in listed
    assert "Showing one company only" not in site.get(BOTS).content.decode()


def test_a_clients_people_have_no_client_page_and_no_switch(ann, cara):
    browser = signed_in(ann.user)
    for client in (ann.client, cara.client):
        assert browser.get(reverse("client", args=[client.pk])).status_code == 403
    make_bot(cara.client, bot_name="Foreign")
    page = browser.get(f"{BOTS}?client__id__exact={cara.client.pk}").content.decode()
    assert "Foreign" not in page
    people = reverse("admin:identity_user_changelist")
    assert f'href="{people}"' in page


@pytest.mark.full
def test_failures_and_unanswered_questions_are_of_the_chosen_client(site, ann, cara):
    bots = {
        name: make_bot(item.client, bot_name=name)
        for name, item in (("Ours", ann), ("Foreign", cara))
    }
    for name, bot in bots.items():
        WebUrl.objects.create(
            client=bot.client, bot=bot, url="http://x.example/", status="failed",
            error_message=f"{name} is gone",
        )  # fmt: skip
        chat = make_chat(bot)
        own = {"client": bot.client, "conversation": chat, "content": text_content("?")}
        asked = Message.objects.create(**own, seq=1, sender_type="customer", text=f"{name} dog?")
        Message.objects.create(
            **own, seq=2, sender_type="system", in_reply_to=asked, receipt={"decision": "no_answer"}
        )
        question_groups.group_next(bot.pk)
    listed = f"{BOTS}?client__id__exact={ann.client.pk}"
    row = reverse("admin:bots_bot_change", args=[bots["Ours"].pk])
    row += f"?_changelist_filters=client__id__exact%3D{ann.client.pk}"
    for path in (listed, row):
        page = site.get(path)
        assert page.context["chosen_client"] == ann.client.pk
        for name in ("failures", "admin:chats_questiongroup_changelist"):
            link = f"{reverse(name)}?client__id__exact={ann.client.pk}"
            assert link in page.content.decode()
            shown = site.get(link).content.decode()
            assert "Ours" in shown
            # The list's filter offers the bots of all clients.
            assert "Foreign dog?" not in shown
            assert "Foreign is gone" not in shown
    assert "Foreign" in site.get(reverse("failures")).content.decode()
