"""Generate intelligent reply suggestions."""

import pytest

from bots.language import embedding
from bots.testing import trained

needs_encoder = pytest.mark.skipif(not embedding.available(), reason="no sentence encoder here")
GUIDE = (
    "You may return damaged goods within thirty days and get your money back.\n\n"
    "We deliver to every province within three working days.\n\n"
    "The shop is open from nine to five on weekdays."
)


def path_of(chat):
    return f"/ai/client/chat/suggestions/{chat.pk}"


@pytest.fixture
def document(bot):
    return trained(bot, GUIDE)


@pytest.fixture
def question(chat, add_message, document):
    add_message(chat, "customer", "My shoes arrived damaged, can I return the goods?")
    return chat


def test_a_suggestion_quotes_a_document(server, question, document, credits_spent):
    reply = server.post(path_of(question))
    assert reply.status_code == 200
    best = reply.json()["suggestions"][0]
    assert "return damaged goods within thirty days" in best["text"]
    (citation,) = best["citations"]
    assert citation["document_id"] == document.pk
    assert citation["quote"] in GUIDE
    assert credits_spent(server.client) == 1
    assert question.messages.count() == 1  # nothing is stored


def test_a_suggestion_answers_what_nobody_has_answered(server, question, add_message):
    add_message(question, "bot", "I ask a colleague.")
    add_message(question, "customer", "Thank you! Hello?")
    best = server.post(path_of(question)).json()["suggestions"][0]
    assert "return damaged goods within thirty days" in best["text"]
    add_message(question, "agent", "Within thirty days.")
    add_message(question, "customer", "Do you sell elephants?")
    assert server.post(path_of(question)).json()["suggestions"] == []


def test_signs_that_stand_for_many_letters_end_no_process(server, question, add_message, bot):
    """The encoder wrote beyond its memory for them, and the process died."""
    signs = "\ufdfa" * 30
    trained(bot, f"Greetings\n\n{signs * 10} for all who come.")
    add_message(question, "customer", f"What is {signs}?")
    assert server.post(path_of(question)).status_code == 200


def test_nobodys_earlier_words_are_suggested(server, question, add_message):
    other = type(question).objects.get(pk=server.post("/ai/client/chat", {}).json()["id"])
    add_message(other, "customer", "My shoes arrived damaged, can I return the goods?")
    add_message(other, "agent", "Of course, Mrs Petrova, order 4711 is fetched in Elm Street.")
    suggestions = server.post(path_of(question)).json()["suggestions"]
    assert suggestions
    assert all(suggestion["citations"] for suggestion in suggestions)
    assert not any("Petrova" in suggestion["text"] for suggestion in suggestions)


def test_the_number_of_suggestions_is_limited(server, question):
    assert len(server.post(path_of(question), {"count": 1}).json()["suggestions"]) == 1


def test_a_model_writes_suggestions_from_the_snippets(
    server, question, document, model, credits_spent
):
    model.json_answer = {
        "suggestions": [
            {"text": "Yes, within thirty days.", "snippets": [1, 99, -1]},
            {"text": "", "snippets": []},
            {"text": "We also fetch it at your home.", "snippets": []},
            *({"text": f"Which shoes are it, {n}?", "snippets": []} for n in "abcdefghi"),
        ]
    }
    suggestions = server.post(path_of(question), {"count": 2, "tone": "formal"}).json()[
        "suggestions"
    ]
    texts = [item["text"] for item in suggestions]
    assert texts == ["Yes, within thirty days.", "Which shoes are it, a?"]
    assert [citation["document_id"] for citation in suggestions[0]["citations"]] == [document.pk]
    assert suggestions[1]["citations"] == []
    prompt = model.requests[0]["messages"]
    assert "in this tone: formal" in prompt[0]["content"]
    assert "never as the customer" in prompt[0]["content"]
    assert "return damaged goods" in prompt[1]["content"]
    assert credits_spent(server.client) == 1


@needs_encoder
def test_a_models_suggestion_does_not_speak_as_the_customer(server, question, model):
    model.json_answer = {
        "suggestions": [
            {"text": "My shoes arrived damaged, can I return the goods?", "snippets": [1]},
            {"text": "Can I return my damaged shoes?", "snippets": []},
            {"text": "Could you tell me your order number, please?", "snippets": []},
        ]
    }
    (only,) = server.post(path_of(question)).json()["suggestions"]
    assert only["text"].startswith("Could you tell me")


def test_without_a_wish_the_tone_is_the_prompts(ann, server, question, document, model):
    ann.post(f"/ai/{question.bot_id}/train/prompt", {"content": "Be kind.", "tone": "warm"})
    model.json_answer = {"suggestions": []}
    server.post(path_of(question), {"count": 1})
    server.post(path_of(question), {"count": 1, "tone": "formal"})
    told = [request["messages"][0]["content"] for request in model.requests]
    assert "in this tone: warm" in told[0]
    assert "in this tone: formal" in told[1]
    assert "warm" not in told[1]


def test_a_model_that_is_down(server, question, broken_model, credits_spent):
    reply = server.post(path_of(question))
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
    assert credits_spent(server.client) == 0


def test_no_suggestion_without_a_source(server, chat, add_message, credits_spent):
    assert server.post(path_of(chat)).json() == {"suggestions": []}
    assert credits_spent(server.client) == 0
    add_message(chat, "customer", "Do you sell elephants?")
    assert server.post(path_of(chat)).json() == {"suggestions": []}


@pytest.mark.parametrize(
    "body", [{"count": 0}, {"count": 6}, {"tone": "x" * 61}, {"tone": "\x00"}, {"n": 1}]
)
def test_a_wrong_body_is_refused(server, question, body):
    assert server.post(path_of(question), body).status_code == 422


def test_a_models_suggestion_invents_no_figure_and_no_deed(server, question, add_message, model):
    add_message(question, "customer", "My order is A-4711. Can I return the damaged goods?")
    texts = [
        ("You may return damaged goods within 60 days.", [1]),
        ("You may return damaged goods within thirty days, see https://evil.example/a.", [1]),
        ("I have cancelled your booking, is that right?", []),
        ("I have refunded your order, as promised.", [1]),
        ("Did you know that delivery costs 25 euros?", []),
        ("Is it order A-4711 that you mean?", []),
        ("Yes, you may return damaged goods within thirty days.", [1]),
    ]
    model.json_answer = {
        "suggestions": [{"text": text, "snippets": numbers} for text, numbers in texts]
    }
    suggestions = server.post(path_of(question), {"count": 5}).json()["suggestions"]
    assert [item["text"] for item in suggestions] == [text for text, _ in texts[-2:]]
