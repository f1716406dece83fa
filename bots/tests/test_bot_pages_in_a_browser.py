"""What a shop's owner does on the pages of a bot, in a browser."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from bots.models import Bot, Document, Prompt
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import save
from identity.models import ApiKey, SiteSession
from identity.testing import enter_site

pytestmark = pytest.mark.django_db(transaction=True)
PRICES = {"name": "prices.csv", "mimeType": "text/csv", "buffer": b"tea,price\nSencha,5 euros\n"}


@pytest.fixture
def owner(screen: Page, ann) -> Page:
    enter_site(screen, ann.user)
    return screen


def to(bot, name, *ids):
    return reverse(f"admin:bots_bot_{name}", args=[bot.pk, *ids])


def to_section(owner: Page, part: str) -> None:
    """Open the tab of the section that has this part."""
    panel = owner.locator("[role=tabpanel]").filter(has=owner.locator(f"#{part}"))
    owner.locator(f"#{panel.get_attribute('aria-labelledby')}").click()
    expect(panel).to_be_visible()


def test_content_is_added_in_four_ways_and_the_list_looks_again_by_itself(owner, bot):
    owner.goto(to(bot, "content"))
    owner.locator("#content-list a").click()
    bad = {"name": "song.exe", "mimeType": "application/octet-stream", "buffer": b"MZ\x00"}
    owner.locator("#files_files").set_input_files([PRICES, bad])
    owner.locator("#files-form button[type=submit]").click()
    owner.wait_for_url(f"**{to(bot, 'content')}")
    expect(owner.locator("#content")).to_contain_text("song.exe")
    expect(owner.locator("#content-list")).to_contain_text("prices.csv")
    expect(owner.locator("#content-list[hx-trigger]")).to_have_count(1)
    for way, values in (
        ("website", {"url": "8.8.8.8"}),
        ("text", {"title": "Returns", "text": "Within 14 days."}),
        ("answer", {"question": "May I park?", "answer": "Yes."}),
    ):
        owner.goto(to(bot, "add_content", way))
        for field, words in values.items():
            owner.locator(f"#{way}_{field}").fill(words)
        owner.locator(f"#{way}-form button[type=submit]").click()
        owner.wait_for_url(f"**{to(bot, 'content')}")
    expect(owner.locator("#content-list li")).to_have_count(4)
    bot.web_urls.update(status="failed", error_message="Nobody answered.")
    run_jobs()
    bot.web_urls.update(status="failed", error_message="Nobody answered.")
    expect(owner.locator("#content-list[hx-trigger]")).to_have_count(0)
    assert Document.objects.filter(status="trained").count() == 3


def test_a_policy_is_corrected_and_a_notice_ends(owner, ann, bot):
    made = ann.post(f"/ai/{bot.pk}/train/text", {"title": "Returns", "text": "Within 14 days."})
    run_jobs()
    owner.goto(to(bot, "content"))
    owner.get_by_role("link", name="Returns").click()
    owner.locator("#edit_text").fill("Within 30 days.")
    save(owner, "edit")
    owner.locator("#use_valid_until").fill("2030-12-24")
    save(owner, "use")
    run_jobs()
    row = Document.objects.get(pk=made.json()["id"])
    assert (row.content, row.status) == ("Within 30 days.", "trained")
    assert row.valid_to
    assert row.valid_to.isoformat() == "2030-12-25T00:00:00+00:00"


def test_the_widget_beside_the_forms_shows_what_they_say(owner, ann, bot):
    Bot.objects.update(languages=["en", "vi"])
    owner.goto(to(bot, "look"))
    frame = owner.frame_locator("iframe[name=widget-preview]")
    expect(frame.locator("h1")).to_have_text("Helper")
    owner.locator("#appearance_bot_name").fill("Hoa Sen")
    owner.locator("#appearance_dark_mode").select_option("True")
    expect(frame.locator("h1")).to_have_text("Hoa Sen")
    expect(frame.locator("html[data-dark=true]")).to_have_count(1)
    owner.locator("#appearance_dark_mode").select_option("system")
    expect(frame.locator("html[data-dark=false]")).to_have_count(1)
    to_section(owner, "welcome")
    owner.locator("#welcome_welcome_message_en").fill("Hello!")
    owner.locator("#welcome_welcome_message_vi").fill("Xin chào!")
    expect(frame.locator(".bot .text")).to_have_text("Hello!")
    save(owner, "welcome")
    owner.locator("#preview a").nth(1).click()
    expect(frame.locator(".bot .text")).to_have_text("Xin chào!")
    shown = ann.get(f"/ai/bot/{bot.pk}").json()
    assert (shown["bot_name"], shown["style"]["dark_mode"]) == ("Hoa Sen", "system")
    assert shown["welcome_message"] == {"en": "Hello!", "vi": "Xin chào!"}


def test_customers_are_asked_for_name_and_phone_before_the_chat(owner, ann, bot):
    owner.goto(to(bot, "behaviour") + "#contact")
    for field in ("name", "phone"):
        owner.locator(f"#contact_{field}").select_option("required")
    save(owner, "contact")
    fields = ann.get(f"/ai/{bot.pk}/customer-info-field").json()["fields"]
    asked = [(field["name"], field["required"], field["ask_before_chat"]) for field in fields]
    assert asked == [("name", True, True), ("phone", True, True)]


def test_a_language_that_is_chosen_has_its_boxes_at_once(owner, ann, bot):
    owner.goto(to(bot, "behaviour"))
    box = owner.locator("#details_label_vi")
    choice = owner.locator("#languages-form [name=languages][value=vi]")
    expect(box).to_have_count(0)
    choice.check(force=True)
    expect(owner.locator("#questions_questions_vi")).to_be_visible()
    choice.uncheck(force=True)
    expect(box).to_have_count(0)
    choice.check(force=True)
    to_section(owner, "details")
    owner.locator("#details_label_en").fill("Order number")
    box.fill("Số đơn")
    to_section(owner, "questions")
    owner.locator("#questions_questions_vi").fill("Shop ở đâu?")
    save(owner, "questions")
    # The forms are saved one after another.
    expect(owner.locator("[data-save-bar][data-changed]")).to_have_count(0)
    expect(owner.locator("#questions_questions_vi")).to_have_value("Shop ở đâu?")
    fields = ann.get(f"/ai/{bot.pk}/customer-info-field").json()["fields"]
    assert fields[0]["label"] == {"en": "Order number", "vi": "Số đơn"}
    questions = ann.get(f"/ai/bot/{bot.pk}/sample-questions").json()["items"]
    assert [one["question"] for one in questions] == ["Shop ở đâu?"]
    assert ann.get(f"/ai/bot/{bot.pk}").json()["languages"] == ["vi", "en"]


def test_the_chat_is_put_on_a_website_and_its_first_visit_is_told(owner, bot, site_origin):
    owner.goto(to(bot, "install"))
    owner.locator("#tag-form button").click()
    expect(owner.locator("#no-hosts")).to_be_visible()
    owner.locator("#hosts_allowed_domain").fill("https://www.hoasen.example/tea?x=1")
    save(owner, "hosts")
    both = "www.hoasen.example\nhoasen.example"
    expect(owner.locator("#hosts_allowed_domain")).to_have_value(both)
    expect(owner.locator("#no-hosts")).to_have_count(0)
    key = ApiKey.objects.get().public_key
    expect(owner.locator("#script-tag")).to_have_value(
        f'<script src="{site_origin}/widget/v1/loader.js" data-key="{key}" async></script>'
    )
    owner.get_by_role("tab", name="Shopify").click()
    expect(owner.locator("#how-shopify")).to_be_visible()
    expect(owner.locator("#seen")).to_have_attribute("data-seen", "")
    website = {"Referer": "https://www.hoasen.example/"}
    owner.request.get(f"/widget/v1/frame?key={key}", headers=website)
    expect(owner.locator("#seen")).to_have_attribute("data-seen", "www.hoasen.example")


def test_one_button_saves_what_was_changed_in_all_sections(owner, ann, bot):
    owner.goto(to(bot, "behaviour"))
    owner.locator("#questions_questions_en").fill("Where are you?")
    to_section(owner, "instructions")
    owner.locator("#instructions_content").fill("Be brief.")
    to_section(owner, "hours")
    owner.locator("#hours_business_hours").select_option("hours")
    closes = owner.locator("#hours-form [data-day='0'] input[type=time]").last
    closes.fill("09:00")
    for part in ("greeting", "opening", "prompt"):
        expect(owner.locator(f"#{part}-tab")).to_have_attribute("data-unsaved", "")
    to_section(owner, "procedures")
    owner.locator("[data-save-all]").click()
    # What is refused comes into view, and the rest is saved.
    expect(owner.locator("#hours-form .errors").first).to_be_visible()
    expect(closes).to_have_value("09:00")
    expect(owner.locator(".sections [data-unsaved]")).to_have_count(1)
    assert ann.get(f"/ai/bot/{bot.pk}/sample-questions").json()["items"][0]["id"]
    assert Prompt.objects.get(bot=bot).content == "Be brief."
    closes.fill("18:00")
    save(owner, "hours")
    expect(owner.locator(".sections [data-unsaved]")).to_have_count(0)
    hours = Bot.objects.get().business_hours
    assert hours
    assert hours[0]["closes"] == "18:00"


def test_what_stands_unsaved_stays_whatever_happens(owner, ann, bot, problems):
    owner.goto(to(bot, "behaviour"))
    owner.locator("#questions_questions_en").fill("Where are you?")
    SiteSession.objects.all().delete()
    owner.locator("[data-save-all]").click()
    expect(owner.locator("#questions-form").get_by_role("alert")).to_be_visible()
    again = owner.context.new_page()
    enter_site(again, ann.user)
    save(owner, "questions")
    assert ann.get(f"/ai/bot/{bot.pk}/sample-questions").json()["items"][0]["id"]
    to_section(owner, "instructions")
    owner.locator("#instructions_content").fill("Be brief.")
    with owner.expect_event("dialog") as leaving:
        owner.evaluate("setTimeout(() => location.reload())")
    assert leaving.value.type == "beforeunload"
    leaving.value.dismiss()
    expect(owner.locator("#instructions_content")).to_have_value("Be brief.")
    problems.clear()


def test_a_language_that_was_added_is_offered_at_once(owner, bot):
    owner.goto(to(bot, "behaviour"))
    owner.locator("#languages-form input[value=vi]").check()
    save(owner, "languages")
    owner.locator("#welcome a").click()
    expect(owner.locator("#welcome_welcome_message_vi")).to_be_visible()
    owner.goto(to(bot, "behaviour"))
    to_section(owner, "contact")
    owner.reload()
    expect(owner.locator("#contact_name")).to_be_visible()
