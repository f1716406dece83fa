"""Get Reply Receipt: why the bot said this."""

import uuid

import pytest

from bots.models import Chunk, Prompt
from bots.testing import trained
from chatplatform.testing import run_jobs
from chats.models import Message
from identity.models import ClientConfig

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = "RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
QUESTION = "Within how many days may I return damaged goods?"


def receipt_of(caller, message):
    return caller.get(f"/ai/chat/{message.conversation_id}/messages/{message.pk}/receipt")


def ask(server, chat, text=QUESTION):
    server.post(f"/ai/client/chat/{chat.pk}", {"text": text, "reply": "async"})
    run_jobs()
    return Message.objects.exclude(sender_type="customer").order_by("-seq").first()


def test_an_answer_shows_its_passages_and_the_confidence(ben, server, bot, chat):
    document = trained(bot, SHOP)
    answer = ask(server, chat)
    question = Message.objects.get(seq=1)
    receipt = receipt_of(ben, answer).json()
    first = receipt["passages"][0]
    row = Chunk.objects.get(pk=first["chunk_id"])
    assert (first["document_id"], first["title"], first["text"]) == (
        document.pk, "Shop", row.text,
    )  # fmt: skip
    assert "thirty days" in first["text"]
    assert receipt["confidence"] >= receipt["threshold"] == 0.77
    assert receipt["message_id"] == str(answer.pk)
    assert receipt["answers"] == [str(question.pk)]
    assert (receipt["decision"], receipt["engine"], receipt["model"]) == (
        "answered", "extractive", "extractive",
    )  # fmt: skip
    assert receipt["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "credits": 1}
    assert (receipt["prompt_version"], receipt["handoff_reason"]) == (None, None)
    assert receipt["knowledge_version"] == bot.knowledge_version
    # Trained anew: the number and the score are what is left of the passage.
    Chunk.objects.all().delete()
    (passage,) = receipt_of(ben, answer).json()["passages"]
    assert (passage["chunk_id"], passage["text"], passage["title"]) == (row.pk, None, None)


def test_a_handover_shows_what_was_missing(ben, server, bot, chat, client_a):
    trained(bot, SHOP)
    ClientConfig.objects.filter(client=client_a).update(answer_threshold=1.0)
    reply = ask(server, chat, "Do you sell purple elephants?")
    receipt = receipt_of(ben, reply).json()
    assert (receipt["decision"], receipt["handoff_reason"]) == ("below_gate", "no_answer")
    assert receipt["confidence"] < receipt["threshold"] == 1.0
    assert receipt["usage"]["credits"] == 0


def test_a_models_answer_shows_the_prompt(ben, server, bot, chat, stub, client_a):
    trained(bot, SHOP)
    Prompt.objects.create(client=client_a, bot=bot, version=1, content="Be kind.")
    stub.play("Within thirty days [1].")
    receipt = receipt_of(ben, ask(server, chat)).json()
    assert (receipt["engine"], receipt["model"]) == ("openai_compatible", "stub")
    assert receipt["prompt_version"] == 1
    assert receipt["usage"]["prompt_tokens"] > 0
    assert receipt["call_ids"] == []


def test_a_model_that_finds_no_answer_is_overruled_by_the_quotation(
    ben, server, bot, chat, stub, client_a
):
    trained(bot, SHOP)
    stub.play("no_answer")
    answer = ask(server, chat)
    assert answer.text.startswith("Here's what I found:\n\n")
    assert "thirty days" in answer.text
    receipt = receipt_of(ben, answer).json()
    assert (receipt["decision"], receipt["engine"]) == ("answered", "extractive")
    assert receipt["engine_error"] == "The model found no answer in the snippets."
    assert len(stub.requests) == 1
    # Who wants no quotations gets none.
    ClientConfig.objects.filter(client=client_a).update(fallback_to_extractive=False)
    assert receipt_of(ben, ask(server, chat)).json()["decision"] == "model_refused"


def test_a_model_that_never_cites_answers_from_the_passages(ben, server, bot, chat, stub):
    trained(bot, SHOP)
    stub.play("say:Damaged goods may be returned within thirty days.")
    answer = ask(server, chat)
    assert answer.text == "Damaged goods may be returned within thirty days. [1]"
    assert [cited["title"] for cited in answer.citations] == ["Shop"]
    assert receipt_of(ben, answer).json()["engine"] == "openai_compatible"
    stub.play("say:Damaged goods may be returned within ninety days.")
    stub.confirms = False
    other = ask(server, chat, "How many days do I have to return damaged goods?")
    assert "ninety" not in other.text
    assert receipt_of(ben, other).json()["engine"] == "extractive"


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("Tôi có thể trả lại hàng bị hỏng trong bao nhiêu ngày?", "bằng một ngôn ngữ khác:"),
        ("Wie viele Tage kann ich beschädigte Ware zurückgeben?", "in einer anderen Sprache"),
    ],
)
def test_a_quotation_in_another_language_says_so(server, bot, chat, text, lead):
    trained(bot, SHOP)
    answer = ask(server, chat, text)
    assert lead in answer.text.partition("\n\n")[0]
    assert "thirty days" in answer.text
    assert [cited["title"] for cited in answer.citations] == ["Shop"]


def test_a_receipt_of_another_system_is_readable(ben, chat, add_message):
    message = add_message(chat, "bot", "Hello", receipt={"engine": "external", "x": [1]})
    receipt = receipt_of(ben, message).json()
    assert (receipt["engine"], receipt["passages"], receipt["decision"]) == ("external", [], None)
    strange = {"decision": "answered", "chunks": "all", "answers": ["x"], "credits": "many"}
    message = add_message(chat, "bot", "Hello", receipt=strange)
    assert receipt_of(ben, message).json()["decision"] is None


def test_other_messages_have_no_receipt(ben, server, chat, add_message):
    for side in ("customer", "agent"):
        assert receipt_of(ben, add_message(chat, side, "Hello")).status_code == 404
    answer = add_message(chat, "bot", "Hello", receipt={"decision": "small_talk"})
    other = server.post("/ai/client/chat", {}).json()["id"]
    assert receipt_of(ben, answer).status_code == 200
    for chat_id, message_id in ((other, answer.pk), (chat.pk, uuid.uuid4())):
        path = f"/ai/chat/{chat_id}/messages/{message_id}/receipt"
        assert ben.get(path).status_code == 404
