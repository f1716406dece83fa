"""A bot's pages: content, look, behaviour and installation, each form saved by itself."""

from typing import Any

import pytest
from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from bots.models import Bot, Document, Prompt, WebUrl
from bots.pages.bot import behavior_forms
from bots.pages.bot.install_forms import INSTALL
from bots.pages.bot.settings import BEHAVIOUR, LOOK, SET_BY_API
from bots.schemas.bot import BotDto, BotStyle
from bots.schemas.prompt import PromptDto
from bots.schemas.widget import BotBannerDto
from bots.services.bots import WITH_DEFAULT_FIELD, WRITABLE
from bots.testing import trained
from chatplatform.form_fields import TextsField
from chatplatform.testing import run_jobs
from identity.models import ApiKey
from identity.pages.settings.week_field import WeekField
from identity.testing import make_person, signed_in

NEW = reverse("admin:bots_bot_new_bot")


def to(bot, name, *ids):
    return reverse(f"admin:bots_bot_{name}", args=[bot.pk, *ids])


def as_role(client, role, **rights):
    person: Any = make_person(client, role, "Tim").user
    for name, value in rights.items():
        setattr(person, name, value)
    person.save()
    return signed_in(person)


def sent(browser, path, name):
    """What a browser sends of a form as it stands."""
    page = browser.get(path).context
    shown = page["parts"][name].form
    values: dict[str, Any] = {"form": name}
    for field in shown:
        value, is_switch = field.value(), isinstance(field.field, forms.BooleanField)
        if value in (None, "") or isinstance(field.field, forms.FileField):
            continue
        if is_switch and not value:
            continue
        if isinstance(field.field, TextsField):
            values |= {f"{field.name}_{code}": text for code, text in value.items()}
        elif isinstance(field.field, WeekField):
            values[field.name] = value.mode
            for entry in value.hours:
                day = f"{field.name}-{entry['weekday']}"
                values[day] = "on"
                for end in ("opens", "closes"):
                    values.setdefault(f"{day}-{end}", []).append(entry[end])
        else:
            values[field.name] = "on" if is_switch else value
    return values


def test_a_bot_is_created_and_leads_to_its_content(site, ann):
    reply = site.post(NEW, {"bot_name": "Tess"})
    bot = Bot.objects.get()
    assert (bot.bot_name, bot.client) == ("Tess", ann.client)
    assert reply.url == to(bot, "content")
    key = ApiKey.objects.get(bot_id=bot.pk)
    assert (key.scope, key.daily_credits, key.created_by) == ("public", 500, ann.user)
    assert key.public_key in site.get(to(bot, "install")).content.decode()
    assert to(bot, "add_content", "files") in site.get(reply.url).content.decode()
    rows = site.get(reverse("admin:bots_bot_changelist")).content.decode()
    assert f'href="{reply.url}' in rows


def test_of_an_upload_the_good_files_are_taken_and_the_others_named(site, bot):
    def files(*more):
        return [SimpleUploadedFile("a.exe", b"MZ\x00\x01"), SimpleUploadedFile("b.txt", b""), *more]

    add = to(bot, "add_content", "files")
    form = {"form": "files", "files": files(SimpleUploadedFile("good.txt", b"Open at nine."))}
    page = site.post(add, form, follow=True)
    assert page.redirect_chain[-1][0] == to(bot, "content")
    assert Document.objects.get().file_name == "good.txt"
    page_of_none = site.post(add, {"form": "files", "files": files()})
    for shown in (page.content.decode(), page_of_none.content.decode()):
        assert "a.exe: " in shown
        assert "b.txt: " in shown
    assert Document.objects.count() == 1


def test_the_list_tells_how_far_the_bot_has_read_and_looks_again_by_itself(site, bot):
    add = to(bot, "add_content", "files")
    site.post(add, {"form": "files", "files": SimpleUploadedFile("a.txt", b"Open at nine.")})
    page = site.get(to(bot, "content")).content.decode()
    assert "Queued" in page
    assert 'hx-trigger="every 2s"' in page
    Document.objects.update(status="failed", error_message="The file is empty.")
    page = site.get(to(bot, "content")).content.decode()
    assert "The file is empty." in page
    assert "every 2s" not in page


@pytest.mark.full
@pytest.mark.parametrize("given", ["8.8.8.8/help", "http://8.8.8.8/help"])
def test_a_website_is_added_with_or_without_its_scheme(site, bot, given):
    form = {"form": "website", "url": given, "crawl_depth": "1"}
    assert site.post(to(bot, "add_content", "website"), form).url == to(bot, "content")
    row = WebUrl.objects.get()
    assert row.url.endswith("://8.8.8.8/help")
    assert row.url.startswith("http:" if "://" in given else "https:")
    page = site.get(to(bot, "website", row.pk))
    assert page.context["state"] == "Queued"
    edit = {"form": "edit", "url": row.url, "crawl_depth": "2", "refresh_hours": "24"}
    site.post(to(bot, "website", row.pk), edit)
    row.refresh_from_db()
    assert (row.crawl_depth, row.refresh_hours) == (2, 24)
    site.post(to(bot, "delete_website", row.pk))
    assert not WebUrl.objects.exists()


@pytest.mark.parametrize(
    ("way", "form", "field"),
    [
        ("website", {"url": "http://10.0.0.1/", "crawl_depth": "0"}, "url"),
        ("website", {"url": "notaurl", "crawl_depth": "0"}, "url"),
        ("text", {"title": "Parking", "text": "!!!"}, "text"),
        ("files", {"files": SimpleUploadedFile("a.exe", b"MZ\x00\x01")}, "files"),
    ],
)
def test_what_is_refused_is_said_beside_the_field_and_adds_nothing(site, bot, way, form, field):
    page = site.post(to(bot, "add_content", way), {"form": way, **form})
    assert list(page.context["parts"][way].form.errors) == [field]
    assert not Document.objects.exists()
    assert not WebUrl.objects.exists()


def test_a_second_answer_to_a_question_leads_to_the_first(site, bot):
    form = {"form": "answer", "question": "May I park?", "answer": "Yes."}
    add = to(bot, "add_content", "answer")
    site.post(add, form)
    row = Document.objects.get()
    assert f'href="{to(bot, "document", row.pk)}"' in site.post(add, form).content.decode()
    assert Document.objects.count() == 1
    asked = site.get(add, {"question": "Do you deliver?"}).content.decode()
    assert 'value="Do you deliver?"' in asked


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_file_is_replaced_and_its_old_text_is_gone(site, bot):
    add = to(bot, "add_content", "files")
    old = SimpleUploadedFile("prices.txt", b"Green tea costs five euros a bag.")
    site.post(add, {"form": "files", "files": old})
    run_jobs()
    row = Document.objects.get()
    page = to(bot, "document", row.pk)
    assert "five euros" in site.get(page).content.decode()
    use = {"form": "use", "is_important": "on", "valid_until": "2027-01-31"}
    assert site.post(page, use).status_code == 302
    new = SimpleUploadedFile("prices-2027.txt", b"Green tea costs six euros a bag.")
    assert site.post(page, {"form": "replace", "files": new}).status_code == 302
    shown = site.get(page).content.decode()
    assert "data-old-text" in shown
    assert 'hx-select-oob="#text"' in shown
    run_jobs()
    row.refresh_from_db()
    assert (row.file_name, row.status, row.is_important) == ("prices-2027.txt", "trained", True)
    assert row.valid_to
    assert row.valid_to.isoformat() == "2027-02-01T00:00:00+00:00"
    shown = site.get(page).content.decode()
    assert "six euros" in shown
    assert "five euros" not in shown
    assert "data-old-text" not in shown
    with row.file.open() as file:
        assert file.read() == b"Green tea costs six euros a bag."
    same = SimpleUploadedFile("x.exe", b"MZ\x00\x01")
    refused = site.post(page, {"form": "replace", "files": same})
    assert "files" in refused.context["parts"]["replace"].form.errors
    row.refresh_from_db()
    assert row.file_name == "prices-2027.txt"


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_text_is_edited_in_place_and_deleted_after_a_question(site, bot):
    form = {"form": "text", "title": "Returns", "text": "Within 14 days."}
    site.post(to(bot, "add_content", "text"), form)
    run_jobs()
    row = Document.objects.get()
    page = to(bot, "document", row.pk)
    site.post(page, {"form": "edit", "title": "Returns", "text": "Within 30 days."})
    run_jobs()
    row.refresh_from_db()
    assert (row.content, row.status) == ("Within 30 days.", "trained")
    assert "Content changed" in site.get(page).content.decode()
    assert row.chunks.get().text == "Within 30 days."
    delete = to(bot, "delete_document", row.pk)
    assert delete in site.get(page).content.decode()
    assert f'href="{page}"' in site.get(delete).content.decode()
    assert Document.objects.exists()
    assert site.post(delete).url == to(bot, "content")
    assert not Document.objects.exists()


def test_new_text_and_answers_may_end_at_a_day(site, bot):
    page = to(bot, "add_content", "text")
    form = {"form": "text", "title": "Sale", "text": "All tea is 10 % off."}
    site.post(page, form | {"valid_until": "2030-12-24"})
    row = Document.objects.get()
    assert (row.title, str(row.valid_to)) == ("Sale", "2030-12-25 00:00:00+00:00")
    answer = {"form": "answer", "question": "Are you open?", "answer": "Yes."}
    site.post(to(bot, "add_content", "answer"), answer)
    assert Document.objects.get(source="question_answer").valid_to is None


def test_a_bot_without_languages_is_offered_the_companys(site, bot):
    bot.client.languages = ["en", "vi"]
    bot.client.save()
    form = site.get(to(bot, "behaviour")).context["parts"]["languages"].form
    assert form.initial["languages"] == ["en", "vi"]
    names = [name for _, name in form.fields["languages"].choices]
    assert names == sorted(names)
    assert len(names) > 15


def test_its_texts_may_be_in_all_languages_of_the_company(site, bot):
    bot.client.languages = ["en", "vi"]
    bot.client.save()
    form = {"form": "details", "label_vi": "Số đơn", "type": "text", "when": "before"}
    assert site.post(to(bot, "behaviour"), form).status_code == 302
    bot.refresh_from_db()
    assert bot.customer_info_fields[0]["label"] == {"vi": "Số đơn"}


def test_a_notice_ends_at_the_end_of_its_last_day_in_the_shops_zone(site, bot):
    bot.client.timezone = "Asia/Ho_Chi_Minh"
    bot.client.save()
    row = trained(bot, "Delivery is free.")
    page = to(bot, "document", row.pk)
    site.post(page, {"form": "use", "valid_until": "2026-12-24"})
    row.refresh_from_db()
    assert row.valid_to.isoformat() == "2026-12-24T17:00:00+00:00"
    # A time within a day, which the API has set, survives other changes on the form.
    Document.objects.update(valid_from="2026-12-01T09:30:00Z")
    site.post(page, sent(site, page, "use") | {"is_important": "on"})
    row.refresh_from_db()
    assert row.valid_from.isoformat() == "2026-12-01T09:30:00+00:00"
    assert (row.valid_to.isoformat(), row.is_important) == ("2026-12-24T17:00:00+00:00", True)


# One value for each setting, other than its default.
FULL: dict[str, Any] = {
    "bot_name": "Tess", "description": "For the shop", "bot_icon": "https://x.example/a.png",
    "primary_color": "#c2410c", "secondary_color": "#ffffff", "allowed_domain": "shop.example",
    "languages": ["en", "vi"], "default_language": "vi",
    "style": {
        "position": "top-left", "width": 500, "height": 700, "font": "Georgia", "radius": 4,
        "dark_mode": True,
    },
    "welcome_message": {"en": "Hi", "vi": "Chào"}, "terms": {"vi": "Điều khoản"},
    "bot_question": "Ask me", "engaging_message": {"vi": "Cần giúp?"}, "attach_enabled": False,
    "export_enabled": True, "auto_pop_up": True, "is_fullscreen": True, "is_visible": False,
    "allow_preview": False, "agent_reply": True, "delete_available": False,
    "hold_back_worse": True, "engaging_seconds": 20, "engaging_pages": "/prices, /shop/*",
    "engaging_visitors": "new", "mail_answers": False,
    "business_hours": [{"weekday": 0, "opens": "09:00", "closes": "12:00"},
                       {"weekday": 0, "opens": "13:00", "closes": "18:00"}],
    "holidays": [{"date": "2026-12-25", "name": "Christmas", "hours": []},
                 {"date": "2026-12-31", "name": "",
                  "hours": [{"opens": "09:00", "closes": "12:00"}]}],
}  # fmt: skip
PROMPT = {
    "content": "Be brief.", "tone": "friendly", "language": "vi", "model": "m", "temperature": 0.5,
}  # fmt: skip
FIELDS = [
    {"name": "phone", "label": {"vi": "Điện thoại"}, "type": "phone", "required": True,
     "question": {"vi": "Số của bạn?"}, "options": [], "ask_before_chat": True,
     "ask_before_person": False},
    {"name": "size", "label": {"vi": "Cỡ"}, "type": "select", "required": False, "question": {},
     "options": [{"label": "S", "value": "s"}], "ask_before_chat": True,
     "ask_before_person": False},
]  # fmt: skip


@pytest.mark.full
def test_no_form_takes_what_another_has(ann, site, bot):
    """Every form is sent as it stands: nothing of the bot, its questions or fields changes."""
    questions = {"questions": [{"question": "Bạn ở đâu?", "language": "vi"},
                               {"question": "Where are you?", "language": "en"}]}  # fmt: skip
    assert ann.put(f"/ai/bot/{bot.pk}/update-bot", FULL).status_code == 200
    assert ann.put(f"/ai/{bot.pk}/customer-info-field", {"fields": FIELDS}).status_code == 200
    assert ann.put(f"/ai/bot/{bot.pk}/sample-questions", questions).status_code == 200
    assert ann.post(f"/ai/{bot.pk}/train/prompt", PROMPT).status_code == 200

    def everything():
        whole = ann.get(f"/ai/bot/{bot.pk}").json()
        asked = ann.get(f"/ai/bot/{bot.pk}/sample-questions").json()["items"]
        return (
            {name: value for name, value in whole.items() if name not in {"updated_at", "api_key"}},
            ann.get(f"/ai/{bot.pk}/customer-info-field").json(),
            [(item["question"], item["language"]) for item in asked],
            ann.get(f"/ai/{bot.pk}/train/prompt").json(),
            ann.get(f"/ai/{bot.pk}/banner").json(),
        )

    site.post(to(bot, "install"), {"form": "tag"})
    before = everything()
    for page, named in (("look", LOOK), ("behaviour", BEHAVIOUR), ("install", INSTALL)):
        for name in named:
            if name in {"details", "versions", "tag"}:
                continue  # they only add, or act
            if page == "install":
                form = {"form": name, "allowed_domain": "shop.example", "daily_credits": "500"}
            else:
                form = sent(site, to(bot, page), name)
            reply = site.post(to(bot, page), form)
            assert reply.status_code == 302, (
                name,
                reply.context and reply.context["parts"][name].form.errors,
            )
            assert everything() == before, name
    site.post(to(bot, "behaviour"), {"form": "details", "label_en": "Order", "type": "number",
                                     "when": "during"})  # fmt: skip
    now = ann.get(f"/ai/{bot.pk}/customer-info-field").json()["fields"]
    assert now[:2] == before[1]["fields"]
    assert (now[2]["name"], now[2]["label"], now[2]["type"]) == ("order", {"en": "Order"}, "number")


def written(schema):
    """The fields of a schema that a request may set."""
    properties = schema.model_json_schema()["properties"]
    return {name for name, field in properties.items() if not field.get("readOnly")}


def test_every_setting_of_the_api_is_on_a_form(ann, site, bot):
    """A new setting of a bot goes onto a form, or stands greyed as set by the API."""
    ann.put(f"/ai/bot/{bot.pk}/update-bot", {"languages": ["en"]})
    names = set()
    for page in ("look", "behaviour"):
        for part in site.get(to(bot, page)).context["parts"].values():
            assert len(part.form.fields) <= 8, part.title
            names |= set(part.form.fields)
    names |= set(site.get(to(bot, "install")).context["parts"]["hosts"].form.fields)
    # The choice of the form for holidays; a step is greyed.
    names |= {"holidays"} if "days" in names else set()
    names |= set(SET_BY_API)
    in_style = set(BotStyle.model_fields)
    assert in_style <= names
    of_api = written(BotDto)
    doubles = {f"{name}_default" for name in WITH_DEFAULT_FIELD}
    assert of_api >= WRITABLE
    assert of_api - names - doubles - {"style"} == set()
    assert written(BotBannerDto) - {"valid_to"} | {"valid_until"} <= names
    prompt = {setting.name for setting in behavior_forms.InstructionsForm.settings}
    assert written(PromptDto) == prompt


def test_a_greeting_in_two_languages(ann, site, bot):
    form = {"form": "languages", "languages": ["en", "vi"], "default_language": "vi"}
    page = to(bot, "behaviour")
    site.post(page, form)
    form = {"form": "welcome", "welcome_message_vi": "Xin chào", "welcome_message_en": "Hello"}
    site.post(to(bot, "look"), form)
    shown = ann.get(f"/ai/bot/{bot.pk}").json()
    assert (shown["languages"], shown["default_language"]) == (["en", "vi"], "vi")
    assert shown["welcome_message"] == {"vi": "Xin chào", "en": "Hello"}
    behaviour = site.get(page).content.decode()
    assert "Xin chào" in behaviour
    assert "welcome_message_vi" not in behaviour, "it is edited in one place"
    assert f"{to(bot, 'look')}#welcome" in behaviour
    frame = site.get(to(bot, "preview"), {"language": "en"})
    assert frame.context["config"]["welcome_message"] == "Hello"
    assert frame["X-Frame-Options"] == "SAMEORIGIN"
    assert b"widget/translations/" not in frame.content
    assert b"widget/translations/vi" in site.get(to(bot, "preview"), {"language": "vi"}).content
    # The form that asks a customer first has a preview of its own.
    ask = {"form": "contact", "name": "required", "email": "", "phone": "", "when": "before"}
    site.post(page, ask)
    before = f"{to(bot, 'preview')}?language=vi&before"
    assert before in [link for _, link in site.get(to(bot, "look")).context["previews"]]
    assert b"data-before" in site.get(before).content


def test_details_may_be_asked_before_a_person_takes_over(ann, site, bot):
    page = to(bot, "behaviour")
    form = {"form": "contact", "name": "required", "email": "", "phone": "optional"}
    site.post(page, {**form, "when": "person"})
    fields = ann.get(f"/ai/{bot.pk}/customer-info-field").json()["fields"]
    assert [
        (field["name"], field["ask_before_chat"], field["ask_before_person"]) for field in fields
    ] == [("name", False, True), ("phone", False, True)]
    parts = site.get(page).context["parts"]
    assert parts["contact"].form.initial["when"] == "person"
    site.post(page, {**form, "when": "during"})
    fields = ann.get(f"/ai/{bot.pk}/customer-info-field").json()["fields"]
    assert not any(field["ask_before_person"] for field in fields)


def week(**days):
    """What a browser sends of hours by weekday, such as `day_0=["09:00-12:00"]`."""
    values: dict[str, Any] = {"form": "hours", "business_hours": "hours"}
    for day, spans in days.items():
        name = day.replace("day_", "business_hours-")
        values[name] = "on"
        values[f"{name}-opens"] = [span.partition("-")[0] for span in spans]
        values[f"{name}-closes"] = [span.partition("-")[2] for span in spans]
    return values


@pytest.mark.full
def test_own_hours_by_weekday_may_end_after_midnight(ann, site, bot):
    page = to(bot, "behaviour")
    form = week(day_0=["09:00-12:00", "13:30-18:00"], day_5=["10:00-00:00"], day_6=["22:00-02:00"])
    assert site.post(page, form).status_code == 302
    hours = ann.get(f"/ai/bot/{bot.pk}").json()["business_hours"]
    assert [(item["weekday"], item["opens"], item["closes"]) for item in hours] == [
        (0, "00:00", "02:00"), (0, "09:00", "12:00"), (0, "13:30", "18:00"),
        (5, "10:00", "24:00"), (6, "22:00", "24:00"),
    ]  # fmt: skip
    for wrong in ({"day_0": ["nine-five"]}, {"day_1": ["09:00-12:00", "10:00-13:00"]},
                  {"day_1": ["09:00-"]}, {}):  # fmt: skip
        reply = site.post(page, week(**wrong))
        assert set(reply.context["parts"]["hours"].form.errors) == {"business_hours"}, wrong
    assert ann.get(f"/ai/bot/{bot.pk}").json()["business_hours"] == hours
    for mode, stored in (("always", []), ("company", None)):
        site.post(page, week() | {"business_hours": mode})
        assert ann.get(f"/ai/bot/{bot.pk}").json()["business_hours"] == stored


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("2026-12-24 (12-9) Eve", "09:00–18:00"), ("2026-12-24 (nine) Eve", "09:00–18:00"),
        ("2026-12-24 (9-12, 11-13)", "09:00–18:00"), ("2026-13-24 Eve", "2026-13-24 Eve"),
        ("Eve", "“Eve”"), ("2026-12-24 " + 101 * "x", "100"),
    ],
)  # fmt: skip
def test_a_wrong_holiday_is_told_what_is_wrong_with_it(ann, site, bot, line, named):
    form = {"form": "holidays", "choice": "own", "days": line}
    reply = site.post(to(bot, "behaviour"), form)
    (error,) = reply.context["parts"]["holidays"].form.errors["days"]
    assert named in error
    assert ann.get(f"/ai/bot/{bot.pk}").json()["holidays"] is None


@pytest.mark.full
def test_an_earlier_version_of_the_instructions_is_restored(site, bot):
    page = to(bot, "behaviour")
    for words in ("Be brief.", "Be long."):
        site.post(page, sent(site, page, "instructions") | {"content": words, "tone": "formal"})
    site.post(page, sent(site, page, "instructions"))  # nothing has changed: no version
    assert Prompt.objects.count() == 2
    site.post(page, {"form": "versions", "version": "1"})
    current = Prompt.objects.get(is_current=True)
    assert (current.content, current.tone, current.version) == ("Be brief.", "formal", 3)


def test_the_tag_works_where_a_pasted_address_leads(site, bot, nobody):
    # The API has made this bot: the page offers its tag, and only looking creates none.
    assert 'id="tag-form"' in site.get(to(bot, "install")).content.decode()
    assert not ApiKey.objects.exists()
    for _ in range(2):
        site.post(to(bot, "install"), {"form": "tag"})
    page = site.get(to(bot, "install")).content.decode()
    key = ApiKey.objects.get()
    assert (key.scope, key.bot_id, key.daily_credits) == ("public", bot.pk, 500)
    assert 'id="tag-form"' not in page
    assert key.public_key in page
    assert 'id="no-hosts"' in page
    shop = {"API-KEY": key.public_key, "Origin": "https://www.shop.example"}
    assert nobody.get("/ai/bot/config", **shop).status_code == 403
    pasted = "https://www.shop.example:443/tea?x=1\nshop.example/a, *.shop.example"
    site.post(to(bot, "install"), {"form": "hosts", "allowed_domain": pasted})
    bot.refresh_from_db()
    assert bot.allowed_domain == "www.shop.example,shop.example,*.shop.example"
    page = site.get(to(bot, "install")).content.decode()
    assert 'id="no-hosts"' not in page
    assert nobody.get("/ai/bot/config", **shop).status_code == 200
    assert ApiKey.objects.count() == 1
    site.post(to(bot, "install"), {"form": "limit", "daily_credits": ""})
    key.refresh_from_db()
    assert key.daily_credits is None
    refused = site.post(to(bot, "install"), {"form": "hosts", "allowed_domain": "not_a_host!"})
    assert "allowed_domain" in refused.context["parts"]["hosts"].form.errors


@pytest.mark.parametrize(
    ("pasted", "is_warned"),
    [
        ("http://tea.example", True),
        ("https://tea.example", False),
        ("http://localhost:8080", False),
    ],
)
def test_a_website_without_https_is_saved_with_a_warning(site, bot, pasted, is_warned):
    """Only https pages may show the chat, and pages of this machine."""
    site.post(to(bot, "install"), {"form": "hosts", "allowed_domain": pasted})
    (told,) = site.get(to(bot, "install")).context["messages"]
    assert (told.level_tag == "warning", pasted in str(told)) == (is_warned, False)
    words = str(told).replace("www.tea.example", "")
    assert ("tea.example" in words) is is_warned
    bot.refresh_from_db()
    assert bot.allowed_domain.split(",")[0] in pasted


def test_a_website_is_allowed_with_and_without_www(site, bot):
    def allowed(*hosts):
        site.post(to(bot, "install"), {"form": "hosts", "allowed_domain": "\n".join(hosts)})
        bot.refresh_from_db()
        return bot.allowed_domain.split(",")

    assert allowed("www.tea.example") == ["www.tea.example", "tea.example"]
    assert "tea.example" in str([*site.get(to(bot, "install")).context["messages"]][-1])
    # Whoever removes one of the two means it.
    assert allowed("tea.example") == ["tea.example"]
    assert allowed("tea.example", "shop.example") == [
        "tea.example", "shop.example", "www.shop.example"
    ]  # fmt: skip
    for kept in (["help.tea.example"], ["a.example", "*.a.example"], ["localhost"]):
        assert allowed(*kept) == kept


def test_the_first_visit_is_told_and_only_one_on_an_allowed_website(site, bot, page, nobody):
    Bot.objects.update(allowed_domain="shop.example")
    frame = f"/widget/v1/frame?key={page.headers['API-KEY']}"
    install = to(bot, "install")
    for referer in ("https://evil.example/", "http://shop.example/", "", "https://[/"):
        nobody.get(frame, Referer=referer)
    assert 'data-seen=""' in site.get(install).content.decode()
    nobody.get(frame, Referer="https://shop.example/")
    shown = site.get(install)
    assert 'data-seen="shop.example"' in shown.content.decode()
    assert shown.context["is_seen_now"]


def test_a_secret_for_signed_in_customers_is_shown_once(site, bot):
    path = to(bot, "identity_secret")
    assert site.get(path).status_code == 200
    shown = site.post(path).content.decode()
    bot.refresh_from_db()
    assert bot.identity_secret in shown
    assert bot.identity_secret not in site.get(to(bot, "install")).content.decode()


def test_a_trainer_teaches_and_changes_nothing_else(ann, bot):
    browser = as_role(ann.client, "agent", can_train=True)
    form = {"form": "text", "title": "Parking", "text": "Behind the house."}
    assert browser.post(to(bot, "add_content", "text"), form).status_code == 302
    behaviour = to(bot, "behaviour")
    names = set(browser.get(behaviour).context["parts"])
    assert names == {"contact", "details", "instructions", "procedures"}
    assert set(browser.get(to(bot, "look")).context["parts"]) == {"welcome", "banner"}
    hold = {"form": "review", "hold_back_worse": "on"}
    assert browser.post(behaviour, hold).status_code == 403
    assert browser.get(to(bot, "install")).status_code == 403
    hosts = {"form": "hosts", "allowed_domain": "evil.example"}
    assert browser.post(to(bot, "install"), hosts).status_code == 403
    assert browser.post(to(bot, "identity_secret")).status_code == 403
    assert browser.post(NEW, {"bot_name": "Tess"}).status_code == 403
    bot.refresh_from_db()
    assert (bot.allowed_domain, bot.hold_back_worse, bot.identity_secret) == ("", False, "")
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("role", ["agent", "viewer"])
def test_who_may_not_train_reads_the_content_alone(ann, bot, role):
    row = trained(bot, "Parking is behind the house.")
    browser = as_role(ann.client, role)
    page = browser.get(to(bot, "content")).content.decode()
    assert to(bot, "document", row.pk) in page
    assert to(bot, "add_content", "files") not in page
    shown = browser.get(to(bot, "document", row.pk))
    assert "behind the house" in shown.content.decode()
    assert shown.context["parts"] == {}
    form = {"form": "text", "title": "Parking", "text": "Behind the house."}
    assert browser.post(to(bot, "add_content", "text"), form).status_code == 403
    assert browser.post(to(bot, "document", row.pk), {"form": "use"}).status_code == 403
    for path in (to(bot, "delete_document", row.pk), to(bot, "look"), to(bot, "behaviour")):
        assert browser.get(path).status_code == 403
    assert browser.post(to(bot, "delete_document", row.pk)).status_code == 403
    assert Document.objects.count() == 1


def test_another_clients_bot_and_content_are_not_found(ann, cara, bot):
    row = trained(bot, "Parking is behind the house.")
    browser = signed_in(cara.user)
    names = ("content", "look", "behaviour", "install", "quality", "preview", "identity_secret")
    for path in (*(to(bot, name) for name in names), to(bot, "document", row.pk)):
        assert browser.get(path).status_code == 404
        assert (
            browser.post(path, {"form": "hosts", "allowed_domain": "x.example"}).status_code == 404
        )
    own = Bot.objects.create(client=cara.client, bot_name="Own")
    for name in ("document", "delete_document"):
        assert browser.get(to(own, name, row.pk)).status_code == 404
        assert browser.post(to(own, name, row.pk), {"form": "use"}).status_code == 404
    assert Document.objects.count() == 1


def act(site, model, action, row):
    """Choose a row of a list and confirm an action."""
    form = {"action": action, "_selected_action": [row.pk], "confirmed": "yes"}
    return site.post(reverse(f"admin:bots_{model}_changelist"), form, follow=True)


def test_bots_are_disabled_enabled_and_deleted_by_the_list(site, bot):
    act(site, "bot", "disable", bot)
    assert Bot.objects.get().is_disabled
    act(site, "bot", "enable", bot)
    assert not Bot.objects.get().is_disabled
    Bot.objects.update(delete_available=False)
    act(site, "bot", "delete_bots", bot)
    assert Bot.objects.exists()
    Bot.objects.update(delete_available=True)
    act(site, "bot", "delete_bots", bot)
    assert not Bot.objects.exists()


def test_content_is_deleted_by_the_list(site, bot):
    act(site, "document", "delete_documents", trained(bot, "Parking is behind the house."))
    assert not Document.objects.exists()
    form = {"form": "website", "url": "http://8.8.8.8/help", "crawl_depth": "0"}
    site.post(to(bot, "add_content", "website"), form)
    act(site, "weburl", "delete_addresses", WebUrl.objects.get())
    assert not WebUrl.objects.exists()
