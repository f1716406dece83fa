"""What the platform itself says to customers is in their language."""

import tomllib
from pathlib import Path

import pytest

from bots.language import phrasebook
from bots.testing import make_bot, trained
from chatplatform.testing import run_jobs
from chats.models import Conversation
from identity.models import Client, ClientConfig
from identity.testing import make_key

pytestmark = pytest.mark.django_db(transaction=True)

BOOKS = phrasebook.all_books()
PHRASES = Path(phrasebook.__file__).parents[1] / "tests" / "phrases"
HELD = tomllib.loads((PHRASES / "held_words.toml").read_text("utf-8"))
# A document, and what a customer says: greeting, question, a word of its answer, thanks, goodbye,
# request.
TALKS = {
    "de": (
        "Lieferung\n\nDie Lieferung innerhalb Deutschlands dauert drei bis fünf Werktage.\n\n"
        "Rückgabe\n\nSie können Ware innerhalb von 14 Tagen zurückgeben.",
        "Hallo", "Wie lange dauert die Lieferung innerhalb Deutschlands?", "Werktage",
        "Vielen Dank!", "Auf Wiedersehen", "Ich möchte mit einem Menschen sprechen",
    ),
    "th": (
        "การจัดส่ง\n\nการจัดส่งสินค้าภายในประเทศใช้เวลาสามถึงห้าวันทำการ\n\n"
        "การคืนสินค้า\n\nคืนสินค้าได้ภายใน 14 วัน",
        "สวัสดีค่ะ", "การจัดส่งสินค้าภายในประเทศใช้เวลากี่วัน", "วันทำการ",
        "ขอบคุณค่ะ", "ลาก่อนค่ะ", "ขอคุยกับเจ้าหน้าที่หน่อยค่ะ",
    ),
    "ar": (
        "التوصيل\n\nيستغرق التوصيل داخل المدينة من ثلاثة إلى خمسة أيام عمل.\n\n"
        "الإرجاع\n\nيمكنكم إرجاع المنتجات خلال أربعة عشر يوما.",
        "السلام عليكم", "كم يوما يستغرق التوصيل داخل المدينة؟", "أيام عمل",
        "شكراً جزيلاً", "مع السلامة", "أُريد التحدث مع موظف",
    ),
}  # fmt: skip


@pytest.fixture
def talk(server):
    """`talk(text)`: a customer says it in one chat; the reply and the chat as they are then."""
    chat_id = server.post("/ai/client/chat", {}).json()["id"]

    def say(text, **fields):
        body = {"text": text, "reply": "async", **fields}
        sent = server.post(f"/ai/client/chat/{chat_id}", body)
        assert sent.status_code in {200, 202}, sent.content
        run_jobs()
        items = server.get(f"/ai/client/chat/history/{chat_id}").json()["items"]
        reply = items[-1] if items[-1]["sender"]["type"] != "customer" else None
        return reply, Conversation.objects.get(pk=chat_id)

    return say


def text_of(reply):
    return reply["content"][0]["text"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("code", "offered"),
    [*((code, ["en", *TALKS]) for code in sorted(TALKS)), ("th", ["en"])],
)
def test_a_conversation_in_the_customers_language_or_the_bots(bot, talk, code, offered):
    document, hello, question, answer, thanks, goodbye, request = TALKS[code]
    bot.languages = offered
    bot.save()
    trained(bot, document)
    spoken = code if code in offered else "en"
    says = BOOKS[spoken].says

    reply, chat = talk(hello)
    assert (text_of(reply), reply["language"], chat.language) == (says["greeting"], spoken, code)
    reply, _ = talk(question)
    assert answer in text_of(reply)
    assert (reply["sender"]["type"], reply["language"]) == ("bot", code)
    assert reply["citations"]
    reply, chat = talk(thanks)
    assert (text_of(reply), reply["language"]) == (says["thanks"], spoken)
    reply, chat = talk(goodbye)
    assert (text_of(reply), reply["language"]) == (says["goodbye"], spoken)
    assert (reply["sender"]["type"], chat.assign_type) == ("bot", "bot")
    reply, chat = talk(request)
    assert (text_of(reply), reply["language"]) == (says["handover"], spoken)
    assert (reply["sender"]["type"], chat.assign_type) == ("system", "queue")
    assert (chat.handoff_reason, chat.language) == ("customer_asked", code)
    # An agent's turn: the bot says nothing more.
    reply, chat = talk(thanks)
    assert (reply, chat.assign_type) == (None, "queue")


@pytest.mark.parametrize("code", ["vi", "ja", "es", "pl"])
def test_greeting_thanks_and_request_in_other_languages(talk, code):
    said, says = HELD[code], BOOKS[code].says
    for kind in ("greeting", "thanks"):
        reply, chat = talk(said[kind][0], language=code)
        assert (text_of(reply), reply["language"]) == (says[kind], code)
        assert (reply["sender"]["type"], chat.assign_type) == ("bot", "bot")
    reply, chat = talk(said["person"][0])
    assert (text_of(reply), reply["language"]) == (says["handover"], code)
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "customer_asked")


@pytest.mark.parametrize("code", ["en", "vi", "ja"])
def test_a_question_without_an_answer_is_handed_over_in_its_language(talk, code):
    reply, chat = talk("xyzzy", language=code)
    assert text_of(reply) == BOOKS[code].says["handover_no_answer"]
    assert (reply["language"], chat.handoff_reason) == (code, "no_answer")


def test_without_handovers_the_customer_is_told_in_their_language(client_a, talk):
    ClientConfig.objects.update(handoff_on_no_answer=False, handoff_on_request=False)
    reply, _ = talk("Wann wird meine Bestellung geliefert?")
    assert text_of(reply) == BOOKS["de"].says["unknown"]
    reply, chat = talk("Ich will einen Mitarbeiter")
    assert text_of(reply) == BOOKS["de"].says["no_person"]
    assert chat.assign_type == "bot"


def test_a_short_message_keeps_the_language_of_the_chat(talk):
    _, chat = talk("Wann wird meine Bestellung geliefert?", reply="none")
    assert chat.language == "de"
    _, chat = talk("Nr. 4711", reply="none")
    assert chat.language == "de"
    _, chat = talk("Where is my parcel now?", reply="none")
    assert chat.language == "en"


def test_other_peoples_words_do_not_change_the_language_of_the_chat(server, ben, talk):
    _, chat = talk("Ich will einen Mitarbeiter")
    sent = ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hello, how can I help you today?"})
    assert sent.status_code == 201, sent.content
    chat.refresh_from_db()
    assert chat.language == "de"


@pytest.mark.parametrize("default", ["vi", "vi-VN", "pt-BR"])
def test_an_unknown_language_falls_back_to_the_bots(bot, talk, default):
    bot.default_language = default
    bot.save()
    reply, _ = talk("thanks", language="cs")
    base = default.split("-")[0]
    assert (text_of(reply), reply["language"]) == (BOOKS[base].says["thanks"], base)


def test_then_to_the_clients_and_english_comes_last(bot, talk):
    bot.default_language = "cs"
    bot.save()
    Client.objects.update(default_language="de")
    reply, _ = talk("thanks", language="xal")
    assert text_of(reply) == BOOKS["de"].says["thanks"]
    Client.objects.update(default_language="xal")
    reply, _ = talk("thanks", language="xal")
    assert (text_of(reply), reply["language"]) == (BOOKS["en"].says["thanks"], "en")


def test_a_greeting_is_answered_by_the_bots_welcome_in_its_language(bot, talk):
    bot.welcome_message = {"de": "Moin bei Acme!", "en": "Welcome to Acme!"}
    bot.save()
    assert text_of(talk("Guten Morgen")[0]) == "Moin bei Acme!"
    assert text_of(talk("Buongiorno")[0]) == BOOKS["it"].says["greeting"]


def test_the_first_message_decides_the_language_of_a_new_chat(client_a):
    bot = make_bot(client_a, languages=["en", "nl"])
    key = make_key(client_a, "secret", bot.pk)
    for message, expected in (("Hallo", "nl"), ("Nr. 12", "en"), ("Wo ist mein Paket?", "de")):
        chat = key.post("/ai/client/chat", {"message": message}).json()
        assert chat["language"] == expected
    chat = key.post("/ai/client/chat", {"message": "Hallo", "language": "fr"}).json()
    assert chat["language"] == "fr"


@pytest.mark.parametrize(
    ("code", "no", "yes", "fine"),
    [
        ("en", "No, that is all", "yes please", "great, thanks"),
        ("vi", "Không, cảm ơn", "Có", "Được rồi"),
        ("ar", "لا شكرا", "نعم", "ممتاز"),
    ],
)
def test_a_customer_who_needs_nothing_more_keeps_no_colleague_busy(bot, talk, code, no, yes, fine):
    trained(bot, "# Delivery\n\nDelivery takes two working days within the country.")
    says = BOOKS[code].says
    fields = {"language": code}
    talk("How many working days does delivery within the country take?")

    reply, _ = talk(fine, **fields)
    assert text_of(reply) == says["thanks"]
    reply, _ = talk(yes, **fields)
    assert text_of(reply) == says["greeting"]
    talk("thanks", **fields)
    reply, chat = talk(no, **fields)
    assert text_of(reply) == says["goodbye"]
    assert (chat.assign_type, chat.status) == ("bot", "open")


@pytest.mark.parametrize("text", ["no", "ok?", "ok, and to Spain?", "No, I want my money back"])
def test_whoever_is_not_content_with_an_answer_gets_a_person(bot, talk, text):
    trained(bot, "# Delivery\n\nDelivery takes two working days within the country.")
    talk("How many working days does delivery within the country take?")
    _, chat = talk(text)
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "no_answer")


def test_a_question_is_answered_from_documents_in_its_language_among_those_of_others(server, bot):
    for text in (
        "Delivery takes two days and costs 4.90 euros.",
        "Die Lieferung dauert zwei Tage und kostet 4,90 Euro.",
        "Giao hàng mất hai ngày và phí là 4,90 euro. Cửa hàng mở cửa lúc 9 giờ.",
        "La livraison prend deux jours et coûte 4,90 euros.",
        "La entrega tarda dos días y cuesta 4,90 euros.",
    ):
        trained(bot, text)

    def answer(text):
        chat = server.post("/ai/client/chat", {}).json()
        server.post(f"/ai/client/chat/{chat['id']}", {"text": text, "reply": "async"})
        run_jobs()
        return server.get(f"/ai/client/chat/history/{chat['id']}").json()["items"][-1]

    assert "two days" in text_of(answer("How long does delivery take?"))
    assert "hai ngày" in text_of(answer("giao hang mat bao lau")), "also without diacritics"
    assert answer("What is the capital of France?")["sender"]["type"] == "system"
