"""An owner connects an account on each channel in the site, tests it, and disconnects it."""

from urllib.parse import urlsplit

import pytest
from django.test import Client as Browser
from django.urls import reverse

from bots.testing import make_bot
from channels_app.models import ChannelConnection, OAuthAuthorization
from channels_app.services import connections
from channels_app.tests.chatapp import NUMBER
from channels_app.tests.helpers import ACCOUNT, OA, OTHER_PAGE, PAGE
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import violations
from identity.models import Role
from identity.testing import enter_site, make_person

pytestmark = pytest.mark.django_db(transaction=True)
OVERVIEW = reverse("channels")


@pytest.fixture(autouse=True)
def _on_this_machine(settings):
    # Elsewhere providers send people back to https alone.
    settings.DEVELOPMENT = True


@pytest.fixture
def site(ann):
    return entered(ann)


def entered(person):
    browser = Browser(SERVER_NAME="localhost")
    browser.force_login(person.user)
    return browser


def text(reply):
    assert reply.status_code == 200
    return reply.content.decode()


def leave(site, bot, channel, **more):
    """The provider's consent page, to which the site sends the person."""
    reply = site.post(reverse("channel_connect", args=[channel]), {"bot_id": bot.pk, **more})
    assert reply.status_code == 302, reply.content
    return reply["Location"]


def come_back(site, sim, consent_page, **answer):
    """Where the person is in the end, after the provider's answer."""
    back = urlsplit(sim.consent(consent_page, **answer))
    reply = site.get(f"{back.path}?{back.query}")
    if "/callback" in back.path:
        # The provider's answer passes through our own callback.
        back = urlsplit(reply["Location"])
        reply = site.get(f"{back.path}?{back.query}")
    return reply["Location"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("channel", "account"),
    [("socialnet", PAGE), ("photoapp", ACCOUNT), ("chatapp", NUMBER), ("localapp", OA)],
)
def test_an_account_is_connected_tested_and_disconnected(site, sim, bot, channel, account, request):
    own = reverse("channel_account", args=[channel, bot.pk])
    login = {"login": "page"} if channel == "photoapp" else {}
    place = come_back(site, sim, leave(site, bot, channel, **login))
    if channel != "localapp":
        assert place == reverse("channel_accounts", args=[channel, bot.pk])
        assert f'value="{account}"' in text(site.get(place))
        place = site.post(place, {"account_id": account})["Location"]
    assert place == own
    row = ChannelConnection.objects.get()
    assert (row.status, row.account_id) == ("connected", account)
    assert 'hx-trigger="every 3s"' in text(site.get(own))
    request.getfixturevalue(channel).write("Hello")
    run_jobs()
    assert "data-came" in text(site.get(own))
    assert own in text(site.get(OVERVIEW))
    assert account not in text(site.get(OVERVIEW)), "an owner sees names, not ids"
    assert site.post(own, {"form": "disconnect"})["Location"] == own
    assert ChannelConnection.objects.get().status == "disconnected"
    assert own in text(site.get(OVERVIEW)), "its page connects it again"


def test_an_account_signs_in_by_itself(site, sim, bot):
    consent_page = leave(site, bot, "photoapp", login="direct")
    place = come_back(site, sim, consent_page)
    assert place == reverse("channel_account", args=["photoapp", bot.pk])
    assert ChannelConnection.objects.get().status == "connected"


@pytest.mark.parametrize("channel", ["socialnet", "chatapp", "localapp"])
def test_who_refuses_comes_back_and_nothing_is_connected(site, sim, bot, channel):
    assert come_back(site, sim, leave(site, bot, channel), allow=False) == OVERVIEW
    assert ChannelConnection.objects.get().status == "pending"
    assert OAuthAuthorization.objects.filter(connection__channel=channel).exists()


def test_a_consent_is_good_once_and_for_who_began_it(site, sim, bot, ann):
    back = urlsplit(sim.consent(leave(site, bot, "socialnet")))
    other = entered(make_person(ann.client, Role.ADMIN, "Abe"))
    path = f"{back.path}?{back.query}"
    assert other.get(path)["Location"] == OVERVIEW
    assert site.get(path)["Location"] == reverse("channel_accounts", args=["socialnet", bot.pk])
    assert site.get(path)["Location"] == OVERVIEW


def test_a_new_number_asks_for_its_pin(site, sim, bot):
    sim.change_account(NUMBER, is_registered=False)
    place = come_back(site, sim, leave(site, bot, "chatapp"))
    refused = site.post(place, {"account_id": NUMBER})
    assert 'id="id_pin"' in text(refused)
    assert "errors" in text(refused)
    assert not ChannelConnection.objects.filter(status="connected").exists()
    assert site.post(place, {"account_id": NUMBER, "pin": "123456"}).status_code == 302
    assert ChannelConnection.objects.get().status == "connected"


def test_a_lost_connection_is_mended_by_a_new_consent(site, sim, page, bot):
    sim.end_tokens()
    connections.mark_expired(page, "The token was refused.")
    own = reverse("channel_account", args=["socialnet", bot.pk])
    consent_page = site.post(own, {"form": "again"})["Location"]
    assert come_back(site, sim, consent_page) == own, "without choosing the account again"
    assert ChannelConnection.objects.get(account_id=PAGE).status == "connected"


def test_an_account_of_another_bot_is_named_and_not_offered(site, sim, page, ann):
    other = make_bot(ann.client)
    place = come_back(site, sim, leave(site, other, "socialnet"), accounts=[PAGE, OTHER_PAGE])
    shown = text(site.get(place))
    assert f'value="{OTHER_PAGE}"' in shown
    assert f'value="{PAGE}"' not in shown
    assert "Blue Shop (" in shown


def test_others_neither_connect_nor_disconnect(page, bot, ben, cara):
    own = reverse("channel_account", args=["socialnet", bot.pk])
    agent, stranger = entered(ben), entered(cara)
    assert own in text(agent.get(OVERVIEW))
    assert agent.get(reverse("channel_connect", args=["chatapp"])).status_code == 403
    assert agent.post(own, {"form": "disconnect"}).status_code == 403
    assert own not in text(stranger.get(OVERVIEW))
    assert stranger.post(own, {"form": "disconnect"}).status_code == 404
    accounts = reverse("channel_accounts", args=["socialnet", bot.pk])
    assert stranger.get(accounts).status_code == 404
    refused = stranger.post(reverse("channel_connect", args=["chatapp"]), {"bot_id": bot.pk})
    assert refused.status_code == 200, "another client's bot is no choice"
    assert ChannelConnection.objects.get().status == "connected"


def test_a_channel_without_an_app_is_not_offered(site, settings, bot):
    settings.LOCALAPP_APP_ID = ""
    connect = reverse("channel_connect", args=["localapp"])
    assert connect not in text(site.get(OVERVIEW))
    assert site.get(connect).status_code == 404


def test_in_the_browser_a_number_is_connected_and_given_up(screen_beside_sim, sim, ann, bot):
    screen = screen_beside_sim
    enter_site(screen, ann.user)
    screen.goto(OVERVIEW)
    assert violations(screen) == []
    screen.get_by_role("link", name="Connect Chatapp").click()
    screen.get_by_role("button", name="Continue").click()
    screen.get_by_role("button", name="Allow").click()
    screen.get_by_role("radio").first.check()
    screen.get_by_role("button", name="Connect").click()
    screen.locator("#account[data-state=connected]").wait_for()
    assert violations(screen) == []
    sim.act(NUMBER, "an", "text", text="Hello")
    sim.deliver()
    run_jobs()
    screen.locator("[data-came]").wait_for()
    screen.get_by_text("Disconnect", exact=True).click()
    screen.get_by_role("button", name="Disconnect").click()
    screen.locator("#account[data-state=disconnected]").wait_for()
    assert ChannelConnection.objects.get().status == "disconnected"
    # The list leads to the account's page, which connects it again.
    screen.goto(OVERVIEW)
    screen.locator("[data-channel=chatapp] [data-state=disconnected] a").click()
    screen.get_by_role("button", name="Reconnect").wait_for()
