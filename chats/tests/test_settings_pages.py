"""The pages of Settings: an owner sets the company up, and others see no form."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from bots.pages.settings_company import CompanyForm
from bots.schemas.bot import BotLanguageConfigDto
from chats.pages.automated_messages import GROUPS
from chats.schemas.automated_messages import NAMES
from identity.models import (
    AuditEvent,
    Client,
    CreditEntry,
    CreditOrder,
    EmailNotification,
    Subscription,
)
from identity.pages.admin_site import SETTINGS_PAGES
from identity.pages.settings import business_hours, conversations, notifications, plan, privacy
from identity.pages.sign_in_providers import ProviderForm
from identity.schemas.clients import CompanyName, TopUpAmount
from identity.schemas.configs import ClientConfigDto, EmailNotificationRequest
from identity.schemas.sign_in_providers import SignInProviderDto
from identity.services import credits
from identity.testing import signed_in

# The column of the config that is a sentence on the page with all messages.
SENTENCES = {"handoff_message": "handover"}
CONFIG_FORMS = (
    business_hours.HoursForm, conversations.HandoverForm, conversations.AnswersForm,
    conversations.AfterConversationForm, privacy.PrivacyForm, CompanyForm,
)  # fmt: skip
SHOWN: dict[Any, Any] = {
    ClientConfigDto: CONFIG_FORMS,
    EmailNotificationRequest: (notifications.NotificationsForm,),
    BotLanguageConfigDto: (CompanyForm,),
    CompanyName: (CompanyForm,),
    SignInProviderDto: (ProviderForm,),
    TopUpAmount: (plan.OrderForm, plan.PackForm),
}
# Set otherwise: holidays have forms of their own, a form compares no versions, and the page of each
# channel has its own part of what concerns channels.
ELSEWHERE = {"holidays", "version", "silent_channels", "message_prices"}


def path(name):
    return reverse(f"admin:settings_{name}")


def send(site, page, form, **values):
    reply = site.post(path(page), {"form": form, **values})
    assert reply.status_code == 302, reply.context["parts"][form].form.errors
    return reply


def fields(form):
    return {*form.base_fields, *(setting.name for setting in getattr(form, "settings", ()))}


def test_every_setting_of_the_api_is_on_a_form():
    sentences = {name for _, names in GROUPS.values() for name in names}
    # What is said while it is closed stands beside the hours alone.
    assert sentences == set(NAMES) - {"closed"}
    assert set(SENTENCES.values()) <= sentences
    for schema, forms in SHOWN.items():
        writable = {
            name
            for name, field in schema.model_fields.items()
            if not (
                isinstance(field.json_schema_extra, dict)
                and field.json_schema_extra.get("readOnly")
            )
        }
        shown = {name for form in forms for name in fields(form)}
        assert writable - shown - ELSEWHERE - set(SENTENCES) == set(), schema


def test_no_form_has_more_than_eight_fields():
    forms = {*CONFIG_FORMS, *(form for forms in SHOWN.values() for form in forms)}
    assert all(len(fields(form)) <= 8 for form in forms)
    assert all(len(names) <= 8 for _, names in GROUPS.values())


@pytest.mark.full
def test_owners_open_every_page_and_agents_none(site, ben):
    agent = signed_in(ben.user)
    for name in SETTINGS_PAGES:
        assert site.get(path(name)).status_code == 200, name
        # The API shows the plan to everybody.
        assert agent.get(path(name)).status_code == (200 if name == "plan" else 403), name
    assert "data-order" not in agent.get(path("plan")).content.decode()
    assert agent.post(path("plan"), {"form": "order", "amount": "5"}).status_code == 403
    assert not CreditOrder.objects.exists()
    assert agent.post(path("privacy"), {"form": "privacy", "retention_days": 1}).status_code == 403
    ben.client.config.refresh_from_db()
    assert ben.client.config.retention_days is None


def test_a_form_leaves_the_settings_of_others_alone(site, ann):
    config = ann.client.config
    send(site, "privacy", "privacy", mask_personal_data="on", retention_days="30")
    send(site, "after", "after", feedback_edit_minutes="5", inactivity_end_minutes="1.5",
         reopen_window_minutes="0")  # fmt: skip
    config.refresh_from_db()
    assert (config.mask_personal_data, config.retention_days) == (True, 30)
    assert (config.inactivity_end_minutes, config.reopen_window_minutes) == (90, 0)
    assert not config.ask_feedback
    assert config.handoff_on_request
    assert config.answer_threshold == 0.77
    assert AuditEvent.objects.filter(action="config.updated", user=ann.user).count() == 2


def test_translation_without_a_model_is_saved_with_a_warning(site, bot):
    form = {"form": "handover", "assign_strategy": "manual", "agent_capacity": "5",
            "first_response_target_seconds": "5"}  # fmt: skip
    for sent, level in (({"auto_translate": "on"}, "warning"), ({}, "success")):
        page = site.post(path("handover"), form | sent, follow=True)
        assert [message.level_tag for message in page.context["messages"]] == [level]


def test_how_much_the_bot_answers_is_one_of_three_words(site, ann):
    def offered():
        form = site.get(path("handover")).context["parts"]["answers"].form
        return [value for value, _ in form.fields["answer_threshold"].choices]

    assert offered() == [0.6, 0.77, 0.9]
    given = {"confirm_answers": "on", "fallback_to_extractive": "on", "burst_wait_ms": "0"}
    send(site, "handover", "answers", answer_threshold="0.9", **given)
    ann.client.config.refresh_from_db()
    assert ann.client.config.answer_threshold == 0.9
    # What was set by the API stays, and another value cannot be chosen.
    ann.post(f"/config/{ann.client.pk}/chat", {"answer_threshold": 0.55})
    assert offered() == [0.6, 0.77, 0.9, 0.55]
    site.post(path("handover"), {"form": "answers", "answer_threshold": "0.5", **given})
    ann.client.config.refresh_from_db()
    assert ann.client.config.answer_threshold == 0.55


def test_refused_values_stay_in_their_form(site):
    reply = site.post(path("privacy"), {"form": "privacy", "retention_days": "0"})
    assert reply.status_code == 200
    assert set(reply.context["parts"]["privacy"].form.errors) == {"retention_days"}


def week(**days):
    values: dict[str, Any] = {"business_hours": "hours"}
    for name, hours in days.items():
        number = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].index(name)
        values[f"business_hours-{number}"] = "on"
        values[f"business_hours-{number}-opens"] = [opens for opens, _ in hours]
        values[f"business_hours-{number}-closes"] = [closes for _, closes in hours]
    return values


def test_several_hours_a_day_survive_and_may_end_after_midnight(site, ann):
    entered = week(mon=[("09:00", "12:00"), ("13:00", "18:00")], sun=[("20:00", "02:00")])
    send(site, "hours", "hours", **entered)
    config = ann.client.config
    config.refresh_from_db()
    spans = [(one["weekday"], one["opens"], one["closes"]) for one in config.business_hours]
    assert spans == [
        (0, "00:00", "02:00"), (0, "09:00", "12:00"), (0, "13:00", "18:00"),
        (6, "20:00", "24:00"),
    ]  # fmt: skip
    page = site.get(path("hours")).content.decode()
    assert page.count('name="business_hours-0-opens"') == 3
    assert 'name="business_hours-6-closes" value="00:00"' in page


@pytest.mark.parametrize(
    "entered",
    [week(), week(tue=[("09:00", "")]), week(tue=[("09:00", "12:00"), ("11:00", "13:00")])],
)
def test_hours_that_make_no_sense_are_refused(site, ann, entered):
    reply = site.post(path("hours"), {"form": "hours", **entered})
    assert set(reply.context["parts"]["hours"].form.errors) == {"business_hours"}
    ann.client.config.refresh_from_db()
    assert ann.client.config.business_hours == []


def test_holidays_come_by_country_and_single_days_go(site, ann):
    send(site, "hours", "country", country="VN")
    config = ann.client.config
    config.refresh_from_db()
    days = {day["date"]: day for day in config.holidays}
    new_year = f"{timezone.localdate().year + 1}-01-01"
    assert days[new_year]["hours"] == []
    assert all(day >= f"{timezone.localdate()}" for day in days)
    send(site, "hours", "remove", remove=new_year)
    send(site, "hours", "day", date="2030-12-24", name="Eve", opens="10:00", closes="14:00")
    send(site, "hours", "country", country="VN")
    config.refresh_from_db()
    assert {
        "date": "2030-12-24",
        "name": "Eve",
        "hours": [{"opens": "10:00", "closes": "14:00"}],
    } in (config.holidays)
    assert new_year in {day["date"] for day in config.holidays}


def test_countries_are_named_in_the_readers_language(site, ann):
    ann.user.language = "vi"
    ann.user.save()
    country = site.get(path("hours")).context["parts"]["country"].form.fields["country"]
    assert dict(country.choices)["DE"] == "Đức"


@pytest.mark.parametrize(
    ("language", "named"),
    [("en", "Austria · Vienna"), ("vi", "Áo · Vienna"), ("de", "Österreich · Wien")],
)
def test_time_zones_are_named_in_the_readers_language(site, ann, language, named):
    ann.user.language = language
    ann.user.save()
    zones = dict(
        site.get(path("company")).context["parts"]["company"].form.fields["timezone"].choices
    )
    assert zones["Europe/Vienna"].rpartition(" · ")[0] == named


def test_mails_are_chosen_and_tried(site, ann):
    send(site, "notifications", "notifications", recipients="a@acme.example; b@acme.example",
         on_unanswered="on", unanswered_after_minutes="10")  # fmt: skip
    row = EmailNotification.objects.get(client=ann.client)
    assert row.recipients == ["a@acme.example", "b@acme.example"]
    assert (row.on_unanswered, row.unanswered_after_minutes, row.to_assignee) == (True, 10, False)
    send(site, "notifications", "test")
    assert mail.outbox[0].to == row.recipients


def test_a_sentence_in_one_language_leaves_the_others(site, ann):
    config = ann.client.config
    config.automatic_messages = {"thanks": {"en": "Any time!"}}
    config.handoff_message = {"en": "One moment"}
    config.save()
    page = f"{path('messages')}?language=en"
    form = {"form": "small_talk", "greeting": "Hello from Hoa Sen", "thanks": "Any time!"}
    assert site.post(page, form).status_code == 302
    config.refresh_from_db()
    assert config.automatic_messages["greeting"] == {"en": "Hello from Hoa Sen"}
    assert config.automatic_messages["thanks"] == {"en": "Any time!"}
    assert config.handoff_message == {"en": "One moment"}
    form = {"form": "functions", "confirm": "Without the place"}
    refused = site.post(page, form).context["parts"]["functions"].form
    assert refused.errors


def test_the_forecast_follows_the_last_week_and_orders_are_listed(site, ann, settings):
    assert 'data-forecast=""' in site.get(path("plan")).content.decode()
    credits.reserve(ann.client.pk, cost=100, reference="reply:1")
    assert CreditEntry.objects.filter(client=ann.client, kind="reserve").count() == 1
    account = Subscription.objects.filter(client=ann.client)
    account.update(plan="standard", period_end=None)
    # Too little is known of a company's first days, which the page says.
    shown = site.get(path("plan")).content.decode()
    assert 'data-forecast=""' in shown
    assert 'data-outlook="too_early"' in shown
    assert "Not enough use yet" in shown
    now = timezone.now()
    Client.objects.filter(pk=ann.client.pk).update(created_at=now - timedelta(days=4))
    shown = site.get(path("plan")).content.decode()
    assert 'data-forecast="63"' in shown
    assert 'data-outlook="until"' in shown
    assert "data-trial" not in shown
    # A trial ends before the credits would.
    account.update(plan="trial", period_end=now + timedelta(days=30))
    shown = site.get(path("plan")).content.decode()
    assert 'data-forecast=""' in shown
    assert 'data-outlook="beyond"' in shown
    assert "data-trial" in shown
    CreditEntry.objects.filter(client=ann.client, kind="reserve").update(amount=-1)
    assert 'data-outlook="years"' in site.get(path("plan")).content.decode()
    CreditEntry.objects.filter(client=ann.client, kind="reserve").delete()
    assert 'data-outlook="unused"' in site.get(path("plan")).content.decode()
    settings.CREDIT_PACKS = {"5000": "45 EUR"}
    assert "45 EUR" in site.get(path("plan")).content.decode()
    refused = site.post(path("plan"), {"form": "order", "amount": "7"})
    assert set(refused.context["parts"]["order"].form.errors) == {"amount"}
    send(site, "plan", "order", amount="5000", reference="")
    order = CreditOrder.objects.get(client=ann.client)
    assert (order.amount, order.created_by) == (5000, ann.user)
    assert f"<td>{order.reference}</td>" in site.get(path("plan")).content.decode()
    again = {"form": "order", "amount": "5000", "reference": order.reference}
    settings.CREDIT_PACKS = {}
    assert set(
        site.post(path("plan"), again | {"amount": "6"}).context["parts"]["order"].form.errors
    )


def test_no_other_client_is_touched(site, cara):
    before = ClientConfigDto.from_row(cara.client.config)
    send(site, "privacy", "privacy", retention_days="3")
    cara.client.config.refresh_from_db()
    assert ClientConfigDto.from_row(cara.client.config) == before


def test_the_two_limits_of_waiting_lead_to_each_other(site):
    for one, other in (("handover", "notifications"), ("notifications", "handover")):
        page = site.get(path(one)).content.decode()
        assert f'class="underline" href="{path(other)}"' in page
