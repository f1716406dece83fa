"""Multi-language text translation, and its deprecated path."""

from contextlib import ExitStack
from email.utils import parsedate_to_datetime

import pytest

from bots.services import engines
from identity.testing import make_key

PATH, DEPRECATED = "/client/translate", "/ai/translate"
BODY = {"text": "Where is my parcel?", "out_lang_code": "vi"}
both_paths = pytest.mark.parametrize("path", [PATH, DEPRECATED])


@both_paths
def test_a_text_is_translated(server, model, credits_spent, path):
    model.json_answer = {"text": "Bưu kiện của tôi ở đâu?"}
    reply = server.post(path, BODY)
    assert reply.status_code == 200
    assert reply.json() == {
        "text": "Bưu kiện của tôi ở đâu?", "in_lang_code": "en", "out_lang_code": "vi",
        "engine": "openai_compatible",
    }  # fmt: skip
    assert "code vi" in model.requests[0]["messages"][0]["content"]
    assert credits_spent(server.client) == 1


@both_paths
def test_a_page_spends_no_credits_on_it(page, model, credits_spent, path):
    assert page.post(path, BODY).status_code == 403
    assert (model.requests, credits_spent(page.client)) == ([], 0)


def test_the_deprecated_path_names_its_successor(server, model, nobody):
    model.json_answer = {"text": "Xin chào"}
    reply = server.post(DEPRECATED, BODY)
    assert reply["Deprecation"].startswith("@")
    assert reply["Link"] == '</client/translate>; rel="successor-version"'
    assert parsedate_to_datetime(reply["Sunset"]).timestamp() > int(reply["Deprecation"][1:])
    assert "Deprecation" not in server.post(PATH, BODY)
    paths = nobody.get("/openapi.json").json()["paths"]
    assert paths[DEPRECATED]["post"]["deprecated"] is True
    assert "deprecated" not in paths[PATH]["post"]


def test_an_error_of_the_deprecated_path_names_it_too(server, nobody):
    for reply in (
        server.post(DEPRECATED, BODY),
        server.post(DEPRECATED, {}),
        nobody.post(DEPRECATED, BODY),
    ):
        assert reply.status_code >= 400
        assert {"Deprecation", "Sunset", "Link"} <= set(reply.headers)


@both_paths
def test_without_a_model_the_error_names_the_setting(server, credits_spent, path):
    reply = server.post(path, BODY)
    assert reply.status_code == 503
    assert (reply.json()["code"], reply.json()["setting"]) == (
        "engine_not_configured", "LLM_BASE_URL",
    )  # fmt: skip
    assert credits_spent(server.client) == 0


@pytest.mark.parametrize("mode", ["500", "429", "404", "nonsense", "empty", "huge", "slow:3"])
def test_a_model_that_fails(server, model, credits_spent, settings, mode):
    model.json_answer = {"text": "warm"}
    assert server.post(PATH, BODY).status_code == 200  # loads the package
    model.play(mode)
    settings.LLM_DEADLINE_SECONDS = 2
    reply = server.post(PATH, BODY)
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
    assert int(reply["Retry-After"]) > 0
    assert credits_spent(server.client) == 1


@pytest.mark.parametrize(
    ("text", "to", "made"),
    [
        ("Where is my parcel?", "vi", "Where is my parcel?"),
        ("Where is my parcel?", "vi", "Where might my parcel be today?"),
        ("Where is my parcel?\n\nThanks.", "de", "Where is my parcel?  Thanks."),
        ("Danke", "en", "Danke"),
        ("我的包裹在哪里?", "en", "我的包裹在哪里?"),
        ("Tôi muốn trả lại hàng", "fr", "Tôi muốn trả hàng lại cho cửa hàng"),
        ("Where is my parcel?", "vi", "  "),
        ("Vielen Dank für Ihre Bestellung.", "en", "Vielen Dank für Ihre Bestellung."),
        ("Ihr Paket kommt Montag.", "en", "Ihr Paket kommt Montag."),
        ("Sold out", "de", "SOLD OUT"),
        ("DELIVERY IS FREE TODAY", "vi", "DELIVERY IS FREE TODAY"),
        ("Where is my parcel?", "vi", "Wo ist mein Paket geblieben?"),
        ("Where is my parcel?", "vi", "我的包裹到底在哪里呢我想知道"),
    ],
)
def test_a_text_that_came_back_in_its_own_language_is_no_translation(
    server, model, credits_spent, text, to, made
):
    model.json_answer = {"text": made, "source_language": ""}
    reply = server.post(PATH, {"text": text, "out_lang_code": to})
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
    assert len(model.requests) == 2
    assert credits_spent(server.client) == 0


@pytest.mark.parametrize(
    ("text", "to"),
    [
        ("Nguyễn Văn An", "en"), ("iPhone 15 Pro Max, 1.299,00 €", "vi"), ("OK", "de"),
        ("https://shop.example/a?b=c help@shop.example", "fr"), ("Where is it?", "en"),
        ("Where is my parcel?", "en-GB"), ("+84 24 1234 5678", "ja"),
        ("Ludwig van Beethoven", "en"), ("Hotel am See, Seestraße 5, 10115 Berlin", "vi"),
        ("SKU-4711 X2", "de"), ("ok", "de"),
    ],
)  # fmt: skip
def test_what_has_nothing_to_translate_may_stay_as_it_is(server, model, text, to):
    model.json_answer = {"text": text}
    reply = server.post(PATH, {"text": text, "out_lang_code": to})
    assert (reply.status_code, reply.json()["text"]) == (200, text)


def test_a_model_without_json_schema(server, model):
    model.json_answer = {"text": "Xin chào"}
    model.play("no_schema")
    assert server.post(PATH, BODY).json()["text"] == "Xin chào"
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("text", "told", "expected"),
    [
        ("iPhone 15 Pro Max", "pt_br", "pt-BR"), ("iPhone 15 Pro Max", "DE", "de"),
        ("Where is my parcel?", "fr", "en"), ("ok", "", "und"), ("ok", "English", "und"),
        ("ok", "<b>x</b>", "und"),
    ],
)  # fmt: skip
def test_the_model_tells_a_language_that_is_not_recognized(server, model, text, told, expected):
    model.json_answer = {"text": "Xin chào", "source_language": told}
    assert server.post(PATH, BODY | {"text": text}).json()["in_lang_code"] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [("VI", "vi"), ("zh_CN", "zh-CN"), ("en-us", "en-US"), ("ZH_hant_tw", "zh-Hant-TW"),
     ("es-419", "es-419"), ("Deu", "deu")],
)  # fmt: skip
def test_codes_may_be_written_in_any_usual_way(server, model, code, expected):
    model.json_answer = {"text": "Xin chào"}
    reply = server.post(PATH, BODY | {"out_lang_code": code})
    assert (reply.status_code, reply.json()["out_lang_code"]) == (200, expected)
    assert f"code {expected}." in model.requests[0]["messages"][0]["content"]


def test_markup_and_lines_are_kept(server, model):
    model.json_answer = {"text": "<b>Xin</b>\nchào\x00\u202e"}
    assert server.post(PATH, BODY).json()["text"] == "<b>Xin</b>\nchào"


def test_masked_addresses_are_restored(server, model):
    config = server.client.config
    config.mask_personal_data = True
    config.save()
    model.json_answer = {"text": "Viết cho [email1]."}
    reply = server.post(PATH, BODY | {"text": "Write to zoe@mail.example."})
    assert reply.json()["text"] == "Viết cho zoe@mail.example."
    assert "zoe@mail" not in str(model.requests)


@both_paths
@pytest.mark.parametrize(
    "field",
    [
        {"out_lang_code": "../../x"}, {"out_lang_code": ""}, {"out_lang_code": "english please"},
        {"out_lang_code": None}, {"text": ""}, {"text": "x" * 10_001}, {"text": "x" * 900_000},
        {"text": "a\x00"}, {"to": "vi"},
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(server, model, credits_spent, path, field):
    assert server.post(path, BODY | field).status_code == 422
    assert (model.requests, credits_spent(server.client)) == ([], 0)


def test_without_credits_no_model_is_asked(server, model):
    server.client.subscription.credits_left = 0
    server.client.subscription.save()
    assert server.post(PATH, BODY).json()["code"] == "insufficient_credits"
    assert model.requests == []


def test_one_clients_calls_leave_others_theirs(server, client_b, model, credits_spent, monkeypatch):
    monkeypatch.setattr(engines, "_SLOT_WAIT_SECONDS", 0)
    model.json_answer = {"text": "Bưu kiện của tôi ở đâu?"}
    with ExitStack() as held:
        for _ in range(engines.MAX_CALLS):
            held.enter_context(
                engines.paid_work(server.client, purpose="text", characters=9, needs_model=True)
            ).waive_charge()
        reply = server.post(PATH, BODY)
        assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
        assert make_key(client_b).post(PATH, BODY).status_code == 200
    assert server.post(PATH, BODY).status_code == 200
    assert (len(model.requests), credits_spent(server.client)) == (2, 1)


@pytest.mark.parametrize(
    ("to", "made"),
    [
        ("ms", "Paket Anda telah meninggalkan kami kemarin dan tiba pada hari Senin."),
        ("de", "Wo ist mein Paket?"), ("vi", "DHL Express"),
        ("tlh", "Where is it, my parcel today?"),
    ],
)  # fmt: skip
def test_a_translation_is_refused_only_where_its_language_is_sure(server, model, to, made):
    model.json_answer = {"text": made, "source_language": "en"}
    reply = server.post(PATH, {"text": "Where is my parcel?", "out_lang_code": to})
    assert (reply.status_code, reply.json()["text"]) == (200, made)
