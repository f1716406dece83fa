"""An owner invites a teammate, who joins; an owner finds who changed something."""

import re

import pytest
from django.core import mail
from django.urls import reverse

from bots.schemas.bot import BotDto
from bots.services import bots
from bots.testing import make_bot
from chatplatform.testing import run_jobs
from identity.models import User
from identity.testing import PASSWORD, enter_site, make_person

LINH = "linh@hoasen.example"


@pytest.mark.journey
def test_a_teammate_joins_from_the_invitation_to_her_first_log_in(screen, settings, ann):
    bot = make_bot(ann.client)
    enter_site(screen, ann.user)
    screen.locator("#nav-sidebar a", has_text="Team").click()
    screen.get_by_role("link", name="Invite teammate").click()
    screen.get_by_label("Email address").fill(LINH)
    screen.locator("[name=full_name]").fill("Linh")
    screen.get_by_label("Role").select_option("agent")
    screen.get_by_text("Can also train bots").click()
    screen.get_by_role("button", name="Send invitation").click()
    screen.get_by_role("row", name=re.compile("Linh")).get_by_role("button").wait_for()
    run_jobs()
    (sent,) = mail.outbox
    assert (sent.to, "Ann" in sent.subject, "Acme" in sent.subject) == ([LINH], True, True)
    assert "agent" in sent.body
    token = sent.body.partition("#token=")[2].split()[0]
    screen.context.clear_cookies()
    screen.goto(f"{reverse('admin:choose_password')}#token={token}")
    screen.get_by_label("New password").fill(PASSWORD)
    screen.get_by_role("button", name="Save and sign in").click()
    screen.wait_for_url("**/admin/desk/")
    linh = User.objects.get(email=LINH)
    assert (linh.role, linh.can_train, linh.last_login is None) == ("agent", True, False)
    screen.goto(reverse("admin:bots_bot_content", args=[bot.pk]))
    screen.get_by_role("link", name="Add content").first.wait_for()


def test_an_owner_finds_who_changed_the_greeting(screen, ann):
    bot = make_bot(ann.client)
    max_ = make_person(ann.client, "admin", "Max").user
    for text in ("Hello!", "Go away!"):
        bots.update(bot, body=BotDto(welcome_message={"en": text}), by=max_)
    enter_site(screen, ann.user)
    screen.locator("#nav-sidebar a", has_text="Team").click()
    screen.get_by_role("link", name="Audit log").click()
    row = screen.get_by_role("row", name=re.compile("Go away!"))
    row.wait_for()
    assert re.search("Max.*Hello! → Go away!", row.inner_text().replace("\n", " "))
