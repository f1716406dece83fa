"""The page of business hours: the week, the holidays, and the message for customers outside these
hours."""

from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import INPUT_CLASSES

from chatplatform.admin_base import viewer
from chatplatform.forms import ServiceForm, Setting
from identity.pages.settings.base import ConfigForm, Part, own_client, show, submitted_values
from identity.pages.settings.week_field import END_OF_DAY, MIDNIGHT, WeekField
from identity.schemas.configs import ClientConfigDto, DayHours, Holiday, stored_holidays
from identity.services import configs, public_holidays, time_zones
from identity.services.bot_hooks import bots

# What the form shows instead of `{opens}`, in the language of the page.
_OPENING = gettext_lazy("[opening time]")
_INPUT_ATTRS = {"class": " ".join(INPUT_CLASSES)}
_TIME_INPUT = forms.TimeInput(attrs={"type": "time", **_INPUT_ATTRS}, format="%H:%M")


class HoursForm(ConfigForm):
    heading = gettext_lazy("Weekly hours")
    business_hours = WeekField(
        label=gettext_lazy("When your team is available"),
        help_text=gettext_lazy("Your bots answer at any time. Hours can end after midnight."),
    )
    settings = (
        Setting(
            "out_of_hours_message", gettext_lazy("Message when you're closed"),
            gettext_lazy(
                "Sent once to customers waiting for a person. [opening time] is replaced with the"
                " time you open again, such as “Monday, 09:00”, so you don't need to write your"
                " hours."
                " Customers who write in another language get this text in your default language."
            ),
        ),
    )  # fmt: skip
    field_order = ("business_hours",)

    def __init__(self, request: HttpRequest, name: str) -> None:
        super().__init__(request, name)
        client = self.config.client
        self.initial["business_hours"] = self.config.business_hours
        week: Any = self.fields["business_hours"]
        week.suggest(self.config.custom_hours)
        self.initial["out_of_hours_message"] = {
            code: text.replace("{opens}", str(_OPENING))
            for code, text in self.config.out_of_hours_message.items()
        }
        languages = [client.default_language, *bots().languages(client)]
        texts: Any = self.fields["out_of_hours_message"]
        texts.offer([*languages, *self.config.out_of_hours_message])

    def clean_out_of_hours_message(self) -> dict[str, str]:
        """The texts as they are stored, with `{opens}`. The placeholder may be in any of the site's
        languages, because colleagues may use the site in different languages."""
        texts: dict[str, str] = self.cleaned_data["out_of_hours_message"]
        for language, _ in settings.LANGUAGES:
            with translation.override(language):
                opening = str(_OPENING)
            texts = {code: text.replace(opening, "{opens}") for code, text in texts.items()}
        return texts


class CountryForm(ServiceForm):
    """Adds the public holidays of a country."""

    country = forms.ChoiceField(label=gettext_lazy("Country"))


class DayForm(ServiceForm):
    """Adds a date that has its own hours or is closed all day."""

    date = forms.DateField(
        label=gettext_lazy("Day"), widget=forms.DateInput(attrs={"type": "date", **_INPUT_ATTRS})
    )
    name = forms.CharField(label=gettext_lazy("Name"), max_length=100, required=False)
    opens = forms.TimeField(label=gettext_lazy("Opens"), required=False, widget=_TIME_INPUT)
    closes = forms.TimeField(
        label=gettext_lazy("Closes"),
        required=False,
        widget=_TIME_INPUT,
        help_text=gettext_lazy("Leave both empty if you're closed all day."),
    )


class RemoveForm(ServiceForm):
    remove = forms.DateField(widget=forms.HiddenInput)


def page(site: Any, request: HttpRequest) -> HttpResponse:
    """The page with the weekly hours and the holidays."""
    client = own_client(request)
    config, today = client.config, timezone.localdate(timezone=ZoneInfo(client.timezone))
    hours = HoursForm(request, "hours")
    country = CountryForm(submitted_values(request, "country"))
    day = DayForm(submitted_values(request, "day"))
    removal = RemoveForm(submitted_values(request, "remove"))
    country.fields["country"].initial = time_zones.country_of(client.timezone)
    country.offer("country", [("", gettext("Choose a country")), *public_holidays.countries()])

    def replace(holidays: list[Holiday]) -> object:
        body = ClientConfigDto(holidays=[holiday.model_dump() for holiday in holidays])
        return configs.update(config, body, by=viewer(request))

    def add_country(data: dict[str, Any]) -> object:
        days = public_holidays.of_country(
            data["country"], years=[today.year, today.year + 1], language=client.default_language
        )
        return replace(_merged(stored, [day for day in days if day.date >= f"{today}"]))

    def add_day(data: dict[str, Any]) -> object:
        return replace(_merged([_holiday(data)], stored))

    def remove(data: dict[str, Any]) -> object:
        return replace([day for day in stored if day.date != f"{data['remove']}"])

    stored = stored_holidays(config.holidays)
    coming = [(date.fromisoformat(day.date), day) for day in stored if day.date >= f"{today}"]
    add = gettext_lazy("Add")
    parts = [
        Part("hours", hours.heading, hours, hours.save),
        Part(
            "country",
            gettext("Add public holidays"),
            country,
            add_country,
            add,
            done=gettext("Public holidays added."),
        ),
        Part("day", gettext("Add a holiday"), day, add_day, add, done=gettext("Holiday added.")),
        Part("remove", "", removal, remove, done=gettext("Removed.")),
    ]
    return show(
        site, request, gettext("Business hours"), parts, template="settings/business_hours",
        holidays=coming, zone=time_zones.label(client.timezone),
        clock=time_zones.clock(client.timezone, now=timezone.now()),
    )  # fmt: skip


def _merged(preferred: list[Holiday], others: list[Holiday]) -> list[Holiday]:
    """The entries of both lists. If a date is in both, the entry of the first list is kept."""
    dates = {day.date for day in preferred}
    return [*preferred, *(day for day in others if day.date not in dates)]


def _holiday(data: dict[str, Any]) -> Holiday:
    opens, closes = data["opens"], data["closes"]
    hours = []
    if opens or closes:
        if not (opens and closes):
            raise forms.ValidationError(gettext("Enter both an opening and a closing time."))
        closing = f"{closes:%H:%M}"
        hours = [
            DayHours(opens=f"{opens:%H:%M}", closes=END_OF_DAY if closing == MIDNIGHT else closing)
        ]
    return Holiday(date=f"{data['date']}", name=data["name"], hours=hours)
