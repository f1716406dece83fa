"""A bot whose page is connected, and customers of the page; a file's own fixtures go first."""

import pytest

from channels_app.models import ChannelConnection
from channels_app.tests.helpers import PAGE, Channel
from chatplatform.testing import run_jobs
from chats.models import Conversation


@pytest.fixture
def socialnet(ann, bot, sim):
    """The paths and the simulated customers of socialnet, for Ann's bot."""
    return Channel("socialnet", ann, bot, sim)


@pytest.fixture
def token(socialnet):
    """Ann's own token at the provider, stored."""
    token = socialnet.sim.token("socialnet")
    reply = socialnet.ann.post(socialnet.path("user-token"), {"access_token": token})
    assert reply.status_code == 200, reply.content
    return token


@pytest.fixture
def page(socialnet, token):
    """A page that is connected to Ann's bot."""
    reply = socialnet.ann.post(socialnet.bot_path("connect_page"), {"page_id": PAGE})
    assert reply.status_code == 200, reply.content
    return ChannelConnection.objects.get(pk=reply.json()["id"])


@pytest.fixture
def agents_chat(page, socialnet, bot):
    """A chat of the customer "an" with the page, which waits for an agent."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    socialnet.write("Is anybody there?")
    run_jobs()
    return Conversation.objects.get()
