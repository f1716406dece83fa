"""The base class of the forms on a bot's pages, helpers for their days and languages, and the form
that creates a bot."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django import forms
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from bots.models import Bot
from bots.schemas.bot import BotDto, BotStyle
from bots.services import bots
from chatplatform.api.schemas import Schema
from chatplatform.form_fields import DateInput, TextsField
from chatplatform.forms import SAVE, ServiceForm, SettingsForm
from identity.models import User

_STYLE = frozenset(BotStyle.model_fields)


class NewBotForm(ServiceForm):
    bot_name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("The name your customers see. You can change it later."),
    )


class BotForm(SettingsForm):
    """A form on one of a bot's pages.

    It edits `subject`: the bot, or one of its documents or websites. Unless a class says
    otherwise, its fields are settings of the bot.
    """

    heading: ClassVar[Any] = ""
    intro: ClassVar[Any] = ""
    button: Any = SAVE
    # The button's style in the theme.
    variant: ClassVar[str] = ""
    # The permission that saving the form needs: `train` stands for `has_train_permission`.
    right: ClassVar[str] = "manage"
    schemas: ClassVar[tuple[type[Schema], ...]] = (BotDto, BotStyle)

    def __init__(self, subject: Any, *args: Any, **kwargs: Any) -> None:
        self.subject = subject
        self.bot: Bot = subject if isinstance(subject, Bot) else subject.bot
        super().__init__(*args, initial=self.stored(), **kwargs)
        self.add_fields()
        for name, field in self.fields.items():
            if isinstance(field, TextsField):
                field.offer(languages_of(self.bot, self.initial.get(name, ())))

    def stored(self) -> dict[str, Any]:
        """The stored values, which the form shows when it opens."""
        style = BotStyle.model_construct(**self.bot.style)
        return {
            item.name: getattr(style if item.name in _STYLE else self.subject, item.name)
            for item in self.settings
        }

    def add_fields(self) -> None:
        """Add the fields and choices that depend on the bot."""

    @property
    def is_needed(self) -> bool:
        """Whether the page shows the form; False if there is nothing to change with it."""
        return True

    def submit(self, data: dict[str, Any], by: User) -> Any:
        """Call the service with the values of the form."""
        return self.change(self.only_changed(data), by)

    def change(self, data: dict[str, Any], by: User) -> BotDto:
        """Change these settings of the bot."""
        values = {name: value for name, value in data.items() if name not in _STYLE}
        if len(values) < len(data):
            # A change replaces the whole style, so it must include the values of other forms.
            style = {name: data[name] for name in data.keys() & _STYLE}
            values["style"] = BotStyle(**self.bot.style | style)
        return bots.update(self.bot, body=BotDto(**values), by=by)

    def saved_message(self, result: Any) -> str:
        """The message that the page shows after saving."""
        now = timezone.localtime(timezone=zone_of(self.bot))
        return gettext("Saved %(time)s") % {"time": f"{now:%H:%M}"}


def zone_of(bot: Bot) -> ZoneInfo:
    """The time zone of the bot's client."""
    return ZoneInfo(bot.client.timezone)


def first_day(begin: datetime | None, bot: Bot) -> date | None:
    """The day on which a period begins, in the client's time zone."""
    return begin.astimezone(zone_of(bot)).date() if begin else None


def last_day(end: datetime | None, bot: Bot) -> date | None:
    """The last day of a period that ends at `end`, in the client's time zone."""
    return first_day(end - timedelta(microseconds=1), bot) if end else None


def day_field(label: Any, help_text: Any = "") -> forms.DateField:
    """A form field for the first or last day of a period, in the client's time zone."""
    return forms.DateField(label=label, help_text=help_text, required=False, widget=DateInput)


def days_of(begin: datetime | None, end: datetime | None, bot: Bot) -> dict[str, date | None]:
    """The values of a form's `valid_from` and `valid_until` for a period."""
    return {"valid_from": first_day(begin, bot), "valid_until": last_day(end, bot)}


def changed_times(form: BotForm) -> dict[str, datetime | None]:
    """The new `valid_from` and `valid_to`, but only where the person changed the day. A value that
    the API set may have a time of day, which the form does not show and must not overwrite."""
    changed: dict[str, datetime | None] = {}
    # `valid_to` is the midnight after the last day.
    for name, column, days in (("valid_from", "valid_from", 0), ("valid_until", "valid_to", 1)):
        if name in form.changed_data:
            day: date | None = form.cleaned_data[name]
            changed[column] = _midnight(day, form.bot, days) if day else None
    return changed


def end_of(day: date | None, bot: Bot) -> datetime | None:
    """The `valid_to` of a period whose last day is `day`: the midnight after it."""
    return _midnight(day, bot, 1) if day else None


def _midnight(day: date, bot: Bot, days: int) -> datetime:
    """The beginning of the day that comes `days` after `day`, in the client's time zone."""
    return datetime.combine(day, time.min, zone_of(bot)) + timedelta(days=days)


def languages_of(bot: Bot, texts: Iterable[str] = ()) -> list[str]:
    """The languages in which the bot's texts may be written, the default language first; includes
    the languages of existing `texts`."""
    offered = bot.languages or bot.client.languages
    return list(dict.fromkeys([bot.default_language, *offered, *texts]))
