"""How often the extractive sentiment is right, for sentences that it was not tuned on."""

import numpy as np
import orjson
import pytest

from bots.engine import sentiment
from bots.language import embedding

pytestmark = pytest.mark.skipif(not embedding.available(), reason="no sentence encoder here")

HELD_OUT = {
    "positive": [
        "That is brilliant, thanks for the fast help!",
        "I really like the new bag, it looks beautiful.",
        "Your colleague was so kind, please tell her thanks.",
        "Works like a charm now.",
        "Delivery was on time and the packaging was lovely.",
        "Hàng xài rất thích, sẽ ủng hộ shop dài dài.",
        "Nhân viên vui vẻ, trả lời nhanh, mình ưng lắm.",
        "Đóng gói cẩn thận, hàng chuẩn, cảm ơn shop.",
        "Áo mặc vừa và đẹp, vợ mình khen mãi.",
        "Todo genial, muy contentos con el resultado.",
        "Der Kundendienst war sehr freundlich und schnell.",
        "Un grand merci, vous êtes formidables.",
        "Sehr schön, genau wie beschrieben.",
        "La tela es preciosa y llegó antes de lo previsto.",
        "I could not be happier with this purchase.",
    ],
    "neutral": [
        "Can you tell me where the nearest shop is?",
        "I want to add one more item to my order.",
        "What is the difference between the basic and the pro plan?",
        "The name on the booking is Daniel Smith.",
        "Is the charger included?",
        "Cửa hàng ở quận mấy vậy?",
        "Mình muốn đặt thêm một cái nữa.",
        "Cho hỏi size L nặng bao nhiêu ký thì mặc vừa?",
        "Khi nào có hàng lại vậy shop?",
        "¿Tienen este modelo en color azul?",
        "Wo finde ich meine Rechnung?",
        "Est-ce que le chargeur est inclus ?",
        "Ich habe am Montag bestellt.",
        "Necesito la factura a nombre de mi empresa.",
        "I will pick it up on Friday afternoon.",
    ],
    "negative": [
        "Nobody picks up the phone and my problem is still not fixed.",
        "The screen was cracked when I opened the box, awful.",
        "I feel cheated, the price was different at the checkout.",
        "Cancel my account, I am fed up.",
        "Your bot gives me the same stupid answer again and again.",
        "Giày mới mang hai hôm đã bong keo, chán thật.",
        "Nhắn tin cả ngày không thấy trả lời, coi thường khách à?",
        "Giao sai màu, sai size, quá thất vọng.",
        "Đồ ăn nguội ngắt, dở tệ.",
        "El paquete llegó abierto y faltan cosas, estoy furioso.",
        "Das Paket war beschädigt und niemand kümmert sich darum.",
        "Votre service client est nul, j'attends depuis un mois.",
        "Die Qualität ist miserabel.",
        "Es un desastre, nada funciona.",
        "I have complained twice and you ignored me.",
    ],
}


@pytest.mark.full
def test_nearly_all_are_right_and_none_is_the_opposite():
    pairs = [
        (label, sentiment.analyze([text]).overall.sentiment)
        for label, texts in HELD_OUT.items()
        for text in texts
    ]
    right = sum(label == result for label, result in pairs)
    assert len(pairs) == 45
    assert right / len(pairs) >= 0.9  # measured: 43 of 45
    assert all({label, result} != {"positive", "negative"} for label, result in pairs)


def test_the_stored_weights_are_those_of_the_examples():
    """`python -m bots.engine.sentiment` stores them."""
    stored = orjson.loads(sentiment._WEIGHTS.read_bytes())
    assert len(stored) == embedding.DIMENSION + 1
    assert np.allclose(stored, sentiment.fit(), atol=1e-3)


def test_the_latest_message_weighs_most():
    angry, glad = "This is awful, I am angry.", "Thank you, that is wonderful!"
    assert (
        sentiment.analyze([angry, glad]).overall.score
        > sentiment.analyze([glad, angry]).overall.score
    )


def test_each_message_has_its_own_sentiment():
    texts = ["This is awful, I am angry.", " ", "Thank you, that is wonderful!"]
    each = sentiment.analyze(texts).by_message
    assert [message and message.sentiment for message in each] == ["negative", None, "positive"]


@pytest.mark.parametrize("texts", [[], [""], ["  "]])
def test_nothing_to_read_is_neutral(texts):
    nothing = (None,) * len(texts)
    assert sentiment.analyze(texts) == sentiment.SentimentAnalysis(
        sentiment.Sentiment("neutral", 0.0), nothing
    )


def test_without_an_encoder_everything_is_neutral(monkeypatch):
    monkeypatch.setattr(embedding, "embed_query", lambda text: None)
    neutral = sentiment.Sentiment("neutral", 0.0)
    assert sentiment.analyze(["I hate it"]) == sentiment.SentimentAnalysis(neutral, (None,))
