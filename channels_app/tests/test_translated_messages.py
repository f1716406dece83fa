"""An agent's words are translated before they go out to a channel's customer."""

import pytest

from channels_app.tests.helpers import run_waiting
from chatplatform.testing import run_jobs, stub_model
from chats.models import Conversation, Message
from identity.models import ClientConfig

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def german_chat(agents_chat):
    """The customer of the page writes German, and messages are translated."""
    ClientConfig.objects.update(auto_translate=True)
    Conversation.objects.update(language="de")
    return agents_chat


@pytest.fixture
def model(settings):
    with stub_model.running("json") as server:
        settings.LLM_BASE_URL, settings.LLM_MODEL = server.base_url, "stub"
        server.json_answer = {"text": "Ihr Paket kommt morgen an."}
        yield server


def write(ben, chat, text):
    sent = ben.post(f"/ai/chat/{chat.pk}/manual", {"text": text})
    assert sent.status_code == 201, sent.content
    return sent.json()["id"]


def test_the_customer_gets_the_translation(socialnet, german_chat, ben, model):
    sent = write(ben, german_chat, "Your parcel will arrive tomorrow.")
    run_jobs()
    assert socialnet.replies() == ["Ihr Paket kommt morgen an."]
    message = Message.objects.get(pk=sent)
    assert (message.text, message.status) == ("Your parcel will arrive tomorrow.", "sent")


def test_later_words_wait_for_a_translation_that_is_tried_again(socialnet, german_chat, ben, model):
    model.play("404,json")
    write(ben, german_chat, "Your parcel will arrive tomorrow.")
    write(ben, german_chat, "Auf Wiedersehen und alles Gute!")
    run_jobs()
    assert socialnet.replies() == []
    while run_waiting():
        pass
    assert socialnet.replies() == ["Ihr Paket kommt morgen an.", "Auf Wiedersehen und alles Gute!"]


def test_if_no_translation_comes_the_words_go_out_as_they_are(socialnet, german_chat, ben, model):
    model.play("404,404,404,404,404,404")
    sent = write(ben, german_chat, "Your parcel will arrive tomorrow.")
    while run_waiting():
        pass
    assert socialnet.replies() == ["Your parcel will arrive tomorrow."]
    assert Message.objects.get(pk=sent).translations == {}
