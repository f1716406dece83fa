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


@pytest.mark.full
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
            {"text": "Which shoes are it?", "snippets": []},
            *({"text": f"Damaged goods? Within thirty days, {n}.", "snippets": [1]} for n in "abc"),
        ]
    }
    suggestions = server.post(path_of(question), {"count": 2, "tone": "formal"}).json()[
        "suggestions"
    ]
    texts = [item["text"] for item in suggestions]
    assert texts == ["Yes, within thirty days.", "Damaged goods? Within thirty days, a."]
    assert [citation["document_id"] for citation in suggestions[0]["citations"]] == [document.pk]
    prompt = model.requests[0]["messages"]
    assert "in this tone: formal" in prompt[0]["content"]
    assert "never as the customer" in prompt[0]["content"]
    assert "return damaged goods" in prompt[1]["content"]
    assert credits_spent(server.client) == 1


AS_THE_CUSTOMER = (
    "I want my money back, when will you answer me?",
    "I want my money back. When will you answer me?",
    "My shoes arrived damaged, can I return the goods?",
    "Can I return my damaged shoes?",
    "My shoes are broken and I want a refund.",
    "I have been waiting for a week.",
    "I am very disappointed. My shoes arrived damaged.",
    "I paid for these shoes and I expect my money back.",
    "Why does nobody reply? I need my refund!",
    "How long do I have to return the goods?",
)
AS_THE_COMPANY = (
    "Yes, within thirty days.",
    "Of course. Damaged goods can be returned.",
    "I'm sorry to hear that! You can send them back within thirty days and get a refund.",
    "We'll refund you when you return them in time.",
    "I can confirm that you may return them.",
    "You get your money back within thirty days. Which shoes is it about?",
    "You may return damaged goods. Could you tell me your order number, please?",
    "I am sorry about the damage. You get your money back within thirty days.",
)


@needs_encoder
@pytest.mark.parametrize("snippets", [[], [1]])
@pytest.mark.parametrize("text", AS_THE_CUSTOMER)
def test_a_models_suggestion_does_not_speak_as_the_customer(
    server, question, model, text, snippets
):
    model.json_answer = {"suggestions": [{"text": text, "snippets": snippets}]}
    assert server.post(path_of(question)).json()["suggestions"] == []


@needs_encoder
@pytest.mark.parametrize("text", AS_THE_COMPANY)
def test_a_models_suggestion_that_speaks_as_the_company_is_offered(server, question, model, text):
    model.json_answer = {"suggestions": [{"text": text, "snippets": [1]}]}
    assert [item["text"] for item in server.post(path_of(question)).json()["suggestions"]] == [text]


def test_a_models_suggestion_that_the_judge_does_not_confirm_is_not_offered(
    server, chat, add_message, bot, model
):
    trained(bot, "Dogs love our lodge and may come along, again and again.")
    add_message(chat, "customer", "Hello! Is it fine to bring our two dogs?")
    texts = ("Our dogs love your lodge, we are coming again.", "Dogs may come along again.")
    suggestions = [{"text": text, "snippets": [1]} for text in texts]
    model.json_answer = {"suggestions": suggestions}
    offered = server.post(path_of(chat)).json()["suggestions"]
    assert [item["text"] for item in offered] == list(texts)
    model.json_answer, model.confirms = {"suggestions": suggestions, "held": [2]}, None
    offered = server.post(path_of(chat)).json()["suggestions"]
    assert [item["text"] for item in offered] == [texts[1]]
    judged = model.requests[-1]["messages"][1]["content"]
    assert all(f"Statement {number}: {text}" in judged for number, text in enumerate(texts, 1))
    assert "bring our two dogs?" in judged
    model.confirms = False
    assert server.post(path_of(chat)).json()["suggestions"] == []


@pytest.mark.full
@needs_encoder
@pytest.mark.usefixtures("document")
@pytest.mark.parametrize(
    ("asked_and_text", "is_offered"),
    [
        (("Puis-je rendre mes chaussures abîmées ?",
          "Oui, vous pouvez rendre les articles abîmés sous trente jours."), True),
        (("Puis-je rendre mes chaussures abîmées ?",
          "Mes chaussures sont abîmées. Quand me répondez-vous ?"), False),
        (("Kann ich die beschädigten Schuhe zurückgeben?",
          "Natürlich, Sie können beschädigte Ware innerhalb von dreißig Tagen zurückgeben."), True),
        (("Kann ich die beschädigten Schuhe zurückgeben?",
          "Meine Schuhe sind kaputt und ich warte seit Tagen."), False),
    ],
)  # fmt: skip
def test_a_suggestion_in_another_language_than_the_document(
    server, chat, add_message, model, asked_and_text, is_offered
):
    asked, text = asked_and_text
    add_message(chat, "customer", asked)
    model.json_answer = {"suggestions": [{"text": text, "snippets": [1]}]}
    suggestions = server.post(path_of(chat)).json()["suggestions"]
    assert [item["text"] for item in suggestions] == [text] * is_offered


def test_a_documents_question_is_not_suggested_as_a_reply(server, question, bot):
    trained(bot, "I bought damaged goods, when can I return the goods and get my money back?")
    suggestions = server.post(path_of(question)).json()["suggestions"]
    assert suggestions
    assert not any("I bought" in suggestion["text"] for suggestion in suggestions)


def test_a_model_without_passages_suggests_nothing_and_costs_nothing(
    server, chat, add_message, model, credits_spent
):
    add_message(chat, "customer", "Do you sell elephants?")
    model.json_answer = {"suggestions": [{"text": "Yes, we sell elephants.", "snippets": [1]}]}
    assert server.post(path_of(chat)).json()["suggestions"] == []
    assert (model.requests, credits_spent(server.client)) == ([], 0)


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
        ("The damaged goods of order A-4711 you may return within thirty days.", [1]),
        ("Yes, you may return damaged goods within thirty days.", [1]),
    ]
    model.json_answer = {
        "suggestions": [{"text": text, "snippets": numbers} for text, numbers in texts]
    }
    suggestions = server.post(path_of(question), {"count": 5}).json()["suggestions"]
    assert [item["text"] for item in suggestions] == [text for text, _ in texts[-2:]]
