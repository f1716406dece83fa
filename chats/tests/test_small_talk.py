"""What the bot says to greetings, to a mere "ok", and to those who ask who it is."""

import pytest

from bots.language import phrasebook
from bots.services import retrieval
from bots.testing import make_bot
from chatplatform.testing import run_jobs
from chats.models import Message
from identity.testing import make_key

pytestmark = pytest.mark.django_db(transaction=True)
SAYS = {code: book.says for code, book in phrasebook.all_books().items()}
WELCOME = "Welcome to the shop!"


@pytest.fixture
def talk(client_a):
    """`talk("Hi", "ok")`: the bot's replies in a new chat of a bot with a welcome message."""
    bot = make_bot(client_a, welcome_message={"en": WELCOME}, languages=[])
    key = make_key(client_a, "secret", bot.pk)

    def talk(*texts):
        chat = key.post("/ai/client/chat", {}).json()
        for text in texts:
            key.post(f"/ai/client/chat/{chat['id']}", {"text": text, "reply": "async"})
            run_jobs()
        items = key.get(f"/ai/client/chat/history/{chat['id']}").json()["items"]
        return [item["content"][0]["text"] for item in items if item["sender"]["type"] == "bot"]

    return talk


def test_the_welcome_is_not_repeated_to_a_greeting(talk):
    assert talk("Hi") == [WELCOME, SAYS["en"]["greeting"]]
    assert talk("Xin chào") == [WELCOME, SAYS["vi"]["greeting"]]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("ok", "thanks"), ("👍", "thanks"), ("awesome :)", "thanks"), ("no", "goodbye"),
     ("Yes", "greeting")],
)  # fmt: skip
def test_a_mere_ok_is_no_question_at_the_beginning_of_a_chat(talk, text, kind):
    assert talk(text) == [WELCOME, SAYS["en"][kind]]
    assert talk("Hi", text)[2:] == [SAYS["en"][kind]]


def test_without_a_welcome_message_the_first_greeting_is_the_usual_one(server, chat):
    server.post(f"/ai/client/chat/{chat.pk}", {"text": "Hi", "reply": "async"})
    run_jobs()
    assert Message.objects.get(sender_type="bot").text == SAYS["en"]["greeting"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Are you a bot?", "en"),
        ("Wer sind Sie?", "de"),
        ("bạn là ai vậy", "vi"),
        ("你是谁？", "zh"),
    ],
)
def test_who_asks_what_the_bot_is_hears_whose_assistant_it_is(talk, client_a, text, code):
    own = SAYS[code]["about_bot"].replace("{company}", client_a.name)
    assert talk(text)[1:] == [f"{own} {SAYS[code]['person_possible']}"]
    client_a.config.handoff_on_request = False
    client_a.config.save()
    assert talk(text)[1:] == [own], "nobody is promised who cannot be asked for"


def test_who_asks_for_a_person_after_that_gets_one(talk):
    talk("Are you a bot?", "a person please")
    assert Message.objects.get(sender_type="system").text == SAYS["en"]["handover"]


@pytest.mark.parametrize(
    ("texts", "decision"),
    [
        (("Hello", "Are you a bot?", "no"), "small_talk"),
        (("Are you a bot?", "yes"), "small_talk"),
        (("bye", "no"), "small_talk"),
        (("What does a room cost?", "no"), "nothing_to_quote"),
        (("What does a zebra eat?", "no"), "below_gate"),
    ],
)
def test_a_mere_yes_or_no_is_not_answered_from_a_pair_with_that_word(
    ann, server, chat, texts, decision
):
    retrieval.clear_cache()
    for question, answer in (
        ("Are you open on Sundays?", "No, we are closed on Sundays."),
        ("What does a room cost?", "A room costs 90 euros a night."),
        ("Is there a no-show fee?", "Yes, the fee is 40 euros."),
    ):
        pair = {"question": question, "answer": answer}
        ann.post(f"/ai/{chat.bot_id}/train/question-answer", pair)
    run_jobs()
    for text in texts:
        server.post(f"/ai/client/chat/{chat.pk}", {"text": text, "reply": "async"})
        run_jobs()
    latest = Message.objects.exclude(sender_type="customer").latest("seq")
    assert latest.receipt
    assert latest.receipt["decision"] == decision
