"""Get Platform Words and Update Platform Words: a client's own texts, and where they are said."""

import pytest

from bots.language import phrasebook
from chatplatform.testing import run_jobs
from chats.schemas.automated_messages import NAMES
from identity.models import AuditEvent, ClientConfig, Role
from identity.testing import make_person

BOOKS = phrasebook.all_books()


def path_of(client):
    return f"/config/{client.pk}/words"


def own(**texts):
    """A request's body: `own(thanks={"de": "Gern!"})`."""
    return {"words": [{"name": name, "own": by_language} for name, by_language in texts.items()]}


def stored(reply):
    assert reply.status_code == 200, reply.content
    return {word["name"]: word["own"] for word in reply.json()["words"] if word["own"]}


def test_all_words_are_listed_in_all_languages(ann, ben):
    for person in (ann, ben, make_person(ann.client, Role.VIEWER, "Vic")):
        words = {word["name"]: word for word in person.get(path_of(ann.client)).json()["words"]}
        assert words.keys() == set(NAMES) == BOOKS["en"].says.keys()
        assert all(word["said_when"] and word["own"] == {} for word in words.values())
        for name, word in words.items():
            assert word["default"] == {code: book.says[name] for code, book in BOOKS.items()}


def test_own_words_replace_those_before(ann, cara):
    first = own(thanks={"de": "Gern!", "pt-BR": "De nada!"}, done={"en": "Done."})
    assert stored(ann.put(path_of(ann.client), first)) == {
        "thanks": {"de": "Gern!", "pt-BR": "De nada!"}, "done": {"en": "Done."},
    }  # fmt: skip
    assert stored(cara.get(path_of(cara.client))) == {}
    second = own(thanks={"de": " "}, done={"en": "It is done."})
    assert stored(ann.put(path_of(ann.client), second)) == {"done": {"en": "It is done."}}
    assert stored(ann.get(path_of(ann.client))) == {"done": {"en": "It is done."}}
    assert ClientConfig.objects.get(client=ann.client).version == 3
    first_event, second_event = AuditEvent.objects.order_by("pk")
    assert (first_event.action, first_event.user) == ("words.replaced", ann.user)
    assert {name.partition(".")[0] for name in second_event.changes} == {"automatic_messages"}


def test_what_was_read_can_be_sent_back_and_changes_nothing(ann):
    ann.put(path_of(ann.client), own(thanks={"de": "Gern!"}, handover={"de": "Moment."}))
    read = ann.get(path_of(ann.client)).json()
    assert ann.put(path_of(ann.client), read).json() == read
    assert ClientConfig.objects.get(client=ann.client).version == 2
    assert AuditEvent.objects.count() == 1


def test_two_words_are_settings_of_the_config(ann):
    config = f"/config/{ann.client.pk}/chat"
    texts = {"handoff_message": {"de": "Moment."}, "out_of_hours_message": {"vi": "Đóng cửa."}}
    assert ann.post(config, texts).status_code == 200
    expected = {"handover": {"de": "Moment."}, "closed": {"vi": "Đóng cửa."}}
    assert stored(ann.get(path_of(ann.client))) == expected
    ann.put(path_of(ann.client), own(handover={"fr": "Un instant."}))
    read = ann.get(config).json()
    assert (read["handoff_message"], read["out_of_hours_message"]) == ({"fr": "Un instant."}, {})


@pytest.mark.parametrize(
    "body",
    [
        {}, {"words": None}, {"words": [{"own": {"de": "x"}}]}, own(colour={"de": "x"}),
        own(thanks={"German": "x"}), own(thanks={"de": "x" * 2_001}), own(thanks={"de": None}),
        own(thanks={"de": "a\x00"}), own(thanks=None), own(confirm={"de": "Weiter?"}),
        own(survey_question={"de": "x" * 66}), own(survey_note={"de": "x" * 81}),
        own(survey_button={"de": "x" * 21}), own(survey_note={"de": "www.shop.example"}),
        {"words": [*own(thanks={"de": "a"})["words"], *own(thanks={"en": "b"})["words"]]},
        {"words": [], "colour": "blue"},
    ],
)  # fmt: skip
def test_a_wrong_body_changes_nothing(ann, body):
    ann.put(path_of(ann.client), own(thanks={"de": "Gern!"}))
    reply = ann.put(path_of(ann.client), body)
    assert reply.status_code == 422
    assert stored(ann.get(path_of(ann.client))) == {"thanks": {"de": "Gern!"}}
    assert ClientConfig.objects.get(client=ann.client).version == 2


# --- where they are said --------------------------------------------------------------------------


@pytest.fixture
def said(server):
    """`said(text, language)`: the platform's reply to it in a new chat, and its language."""

    def send(text, language):
        chat_id = server.post("/ai/client/chat", {}).json()["id"]
        path = f"/ai/client/chat/{chat_id}"
        server.post(path, {"text": text, "reply": "async", "language": language})
        run_jobs()
        last = server.get(f"/ai/client/chat/history/{chat_id}").json()["items"][-1]
        return last["content"][0]["text"], last["language"]

    return send


@pytest.mark.django_db(transaction=True)
def test_own_words_are_said_in_their_language_alone(ann, said):
    ann.put(path_of(ann.client), own(thanks={"de": "Gern!", "pt-BR": "De nada, viu?"}))
    assert said("Danke", "de") == ("Gern!", "de")
    assert said("Danke", "de-AT") == ("Gern!", "de")
    assert said("Obrigado", "pt") == ("De nada, viu?", "pt-BR")
    assert said("Merci", "fr") == (BOOKS["fr"].says["thanks"], "fr")


@pytest.mark.django_db(transaction=True)
def test_an_own_language_that_the_platform_does_not_know(ann, bot, said):
    bot.default_language = "vi"
    bot.save()
    ann.put(path_of(ann.client), own(thanks={"cs": "Není zač."}))
    assert said("thanks", "cs") == ("Není zač.", "cs")
    assert said("hello", "cs") == (BOOKS["vi"].says["greeting"], "vi")


@pytest.mark.django_db(transaction=True)
def test_a_handover_without_an_answer_has_words_of_its_own(ann, said):
    ann.put(path_of(ann.client), own(handover={"de": "Moment, bitte.", "fr": "Un instant."}))
    assert said("xyzzy", "de")[0] == said("Mitarbeiter", "de")[0] == "Moment, bitte."
    both = own(handover={"de": "Moment, bitte."}, handover_no_answer={"de": "Das frage ich nach."})
    ann.put(path_of(ann.client), both)
    assert said("xyzzy", "de")[0] == "Das frage ich nach."
    assert said("Mitarbeiter", "de")[0] == "Moment, bitte."
    assert said("xyzzy", "fr")[0] == BOOKS["fr"].says["handover_no_answer"]


@pytest.mark.django_db(transaction=True)
def test_the_bots_welcome_goes_before_own_words(ann, bot, said):
    ann.put(path_of(ann.client), own(greeting={"de": "Moin!", "fr": "Salut !"}))
    bot.welcome_message = {"de": "Willkommen!"}
    bot.save()
    assert said("Hallo", "de")[0] == "Willkommen!"
    assert said("Bonjour", "fr")[0] == "Salut !"
