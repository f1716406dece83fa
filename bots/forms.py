"""The base of the forms on a bot's pages, and the form that creates a bot."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django import forms
from django.utils import timezone
from django.utils.translation import get_language_info, gettext, gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from bots.models import Bot
from chatplatform.forms import ServiceForm
from identity.models import User


class NewBotForm(ServiceForm):
    bot_name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("As your customers see it. You can change it later."),
    )


class DateInput(UnfoldAdminTextInputWidget):
    """The browser's own input of a date."""

    input_type = "date"

    def format_value(self, value: Any) -> str | None:
        return None if value in (None, "") else str(value)


class BotForm(ServiceForm):
    """A form of a bot's page. It is sent and saved by itself and leaves all others as they are."""

    heading: ClassVar[Any] = ""
    intro: ClassVar[Any] = ""
    button: ClassVar[Any] = gettext_lazy("Save")
    # The right that saving it needs, as in `TenancyMixin.has_…_permission`.
    right: ClassVar[str] = "manage"

    def __init__(self, bot: Bot, *sent: Any, **options: Any) -> None:
        self.bot = bot
        initial = self.stored() | options.pop("initial", {})
        super().__init__(*sent, initial=initial, **options)
        self.add_fields()

    def stored(self) -> dict[str, Any]:
        """The values that the form shows at first."""
        return {}

    def add_fields(self) -> None:
        """Add the fields that depend on the bot."""

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to set with the form now."""
        return True

    def submit(self, data: dict[str, Any], by: User) -> Any:
        """Call the service with the values of the form."""
        raise NotImplementedError

    def told(self, result: Any) -> str:
        """What the page says once the form is saved."""
        now = timezone.localtime(timezone=zone_of(self.bot))
        return gettext("Saved %(time)s") % {"time": f"{now:%H:%M}"}

    def add_field(self, name: str, field: forms.Field) -> None:
        self.fields[name] = field
        self._dress(field)

    def add_texts(
        self, name: str, label: Any, texts: Mapping[str, str], *, most: int, rows: int = 2
    ) -> None:
        """Add a field for the text in each language of the bot, and in each that has one."""
        for code in languages_of(self.bot, texts):
            self.add_field(
                f"{name}_{code}",
                forms.CharField(
                    label=f"{label} · {language_name(code)}",
                    initial=texts.get(code, ""),
                    max_length=most,
                    required=False,
                    widget=forms.Textarea(attrs={"rows": rows, "lang": code}),
                ),
            )

    def texts(self, data: Mapping[str, Any], name: str) -> dict[str, str]:
        """The texts of `add_texts` by language, without the empty ones."""
        found = {
            field.removeprefix(f"{name}_"): value
            for field, value in data.items()
            if field.startswith(f"{name}_")
        }
        return {code: text for code, text in found.items() if text}


def zone_of(bot: Bot) -> ZoneInfo:
    """The time zone of the bot's client."""
    return ZoneInfo(bot.client.timezone)


def begin_of(day: date | None, bot: Bot) -> datetime | None:
    """The first moment of a day in the client's time zone."""
    return datetime.combine(day, time.min, zone_of(bot)) if day else None


def end_of(day: date | None, bot: Bot) -> datetime | None:
    """The end of a day in the client's time zone, which is the first moment of the next."""
    return begin_of(day + timedelta(days=1), bot) if day else None


def first_day(begin: datetime | None, bot: Bot) -> date | None:
    """The day in the client's time zone that holds the begin of a period."""
    return begin.astimezone(zone_of(bot)).date() if begin else None


def last_day(end: datetime | None, bot: Bot) -> date | None:
    """The last day in the client's time zone of a period that ends at `end`."""
    return first_day(end - timedelta(microseconds=1), bot) if end else None


def languages_of(bot: Bot, texts: Iterable[str] = ()) -> list[str]:
    """The languages in which a bot's texts are written, its default first."""
    return list(dict.fromkeys([bot.default_language, *bot.languages, *texts]))


def language_name(code: str) -> str:
    """A language's name in the reader's language; the code if it is unknown."""
    try:
        return str(get_language_info(code.lower())["name_translated"])
    except KeyError:
        return code
