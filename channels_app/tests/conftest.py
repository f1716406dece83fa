"""A bot whose page is connected, and customers of the page; a file's own fixtures go first."""

import pytest

from channels_app.models import ChannelConnection
from channels_app.services import inbound_queue
from channels_app.tests.chatapp import NUMBER, connect
from channels_app.tests.helpers import ACCOUNT, BOT, OA, Channel
from chatplatform.testing import run_jobs
from chatplatform.testing.web_process import free_port, web
from chats.models import Conversation, Message


@pytest.fixture
def agents_answer(bot):
    """No bot's reply stands between the customer's messages."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)


@pytest.fixture
def few_at_once(monkeypatch):
    """How many items a job processes: more than a body has whose customers get a job each."""
    monkeypatch.setattr(inbound_queue, "_MAX_ITEMS", 12)
    return 12


@pytest.fixture
def socialnet(ann, bot, sim):
    """The paths and the simulated customers of socialnet, for Ann's bot."""
    return Channel("socialnet", ann, bot, sim)


@pytest.fixture
def token(socialnet):
    """Ann's own token at the provider, stored."""
    return socialnet.store_token()


@pytest.fixture
def page(socialnet, token):
    """A page that is connected to Ann's bot."""
    return socialnet.connect_page()


@pytest.fixture
def agents_chat(page, socialnet, agents_answer):
    """A chat of the customer "an" with the page, which waits for an agent."""
    socialnet.write("Is anybody there?")
    run_jobs()
    return Conversation.objects.get()


@pytest.fixture
def photoapp(ann, bot, sim):
    """The paths and the simulated customers of photoapp, for Ann's bot."""
    return Channel("photoapp", ann, bot, sim, ACCOUNT)


@pytest.fixture
def photoapp_token(photoapp):
    """Ann's own token at the provider, stored."""
    return photoapp.store_token()


@pytest.fixture
def account(photoapp, photoapp_token):
    """An account that is connected to Ann's bot through its page."""
    return photoapp.connect_page()


@pytest.fixture
def localapp(ann, bot, sim):
    """The paths and the simulated customers of localapp, for Ann's bot."""
    return Channel("localapp", ann, bot, sim, OA)


@pytest.fixture
def oa(localapp):
    """An Official Account that is connected to Ann's bot, by a consent."""
    body = {"redirect_uri": "https://app.shop.example/done"}
    pending = localapp.ann.post(localapp.bot_path("connect"), body)
    assert pending.status_code == 200, pending.content
    back = localapp.sim.consent(pending.json()["consent_url"])
    done = localapp.ann.browser.get(back)
    assert (done.status_code, "status=connected" in done["Location"]) == (302, True), done
    return ChannelConnection.objects.get(channel="localapp", status="connected")


@pytest.fixture
def chatapp(ann, bot, sim):
    """The paths and the simulated customers of chatapp, for Ann's bot."""
    return Channel("chatapp", ann, bot, sim, NUMBER)


@pytest.fixture
def number(chatapp):
    """A number that is connected to Ann's bot, with a token that is stored."""
    chatapp.store_token()
    reply = connect(chatapp)
    assert reply.status_code == 200, reply.content
    return ChannelConnection.objects.get(pk=reply.json()["id"])


@pytest.fixture
def telegram(ann, bot, sim):
    """The paths and the simulated customers of telegram, for Ann's bot."""
    return Channel("telegram", ann, bot, sim, BOT)


@pytest.fixture
def telegram_bot(telegram):
    """A bot at Telegram that is connected to Ann's bot, by its token."""
    body = {"token": telegram.sim.token("telegram", BOT)}
    reply = telegram.ann.post(telegram.bot_path("connect"), body)
    assert reply.status_code == 200, reply.content
    return ChannelConnection.objects.get(pk=reply.json()["id"])


@pytest.fixture
def quiet(number, bot):
    """No bot's reply stands between the customer's messages."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)


@pytest.fixture
def say(agents_chat, ben):
    """`say("Hello")`: an agent writes; the message as it is after the jobs ran."""

    def say(text: str = "Hello", **body):
        sent = ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": text, **body})
        assert sent.status_code == 201, sent.content
        run_jobs()
        return Message.objects.get(pk=sent.json()["id"])

    return say


@pytest.fixture
def screen_beside_sim(browser, sim, transactional_db):
    """A browser page of a new visitor, on a web process that calls the simulated providers."""
    port = free_port()
    public = f"http://127.0.0.1:{port}"
    environment = {
        **sim.environment, "PUBLIC_URL": public, "EGRESS_ALLOW": sim.host_port,
        "DJANGO_SETTINGS_MODULE": "chatplatform.tests.cached_site",
    }  # fmt: skip
    with web(port=port, **environment):
        context = browser.new_context(base_url=public)
        yield context.new_page()
        context.close()
