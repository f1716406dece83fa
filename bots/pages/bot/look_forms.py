"""The forms that decide how a bot's widget looks and what it says by itself."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminColorInputWidget

from bots.forms import BotForm, DateInput, begin_of, end_of, first_day, last_day
from bots.services import banner_picture, bots
from bots.shapes.bot import BotDto, BotStyle
from bots.shapes.widget import (
    Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post as BannerUpload,
)
from bots.shapes.widget import BotBannerDto
from identity.models import User

_CORNERS = [
    ("bottom-right", gettext_lazy("Bottom right")),
    ("bottom-left", gettext_lazy("Bottom left")),
    ("top-right", gettext_lazy("Top right")),
    ("top-left", gettext_lazy("Top left")),
]


def _colour(label: Any) -> forms.CharField:
    return forms.CharField(
        label=label, widget=UnfoldAdminColorInputWidget(attrs={"class": "colour"})
    )


class BotSettingsForm(BotForm):
    """A form of columns of the bot that the API sets with `update-bot`; `styles` are in `style`."""

    styles: tuple[str, ...] = ()

    def stored(self) -> dict[str, Any]:
        style = BotStyle.model_construct(**self.bot.style)
        return {
            name: getattr(style if name in self.styles else self.bot, name)
            for name in self.base_fields
        }

    def submit(self, data: dict[str, Any], by: User) -> BotDto:
        values = {name: value for name, value in data.items() if name not in self.styles}
        if self.styles:
            # A change replaces the whole style, so that what others have set goes with it.
            drawn = {name: data[name] for name in self.styles}
            values["style"] = BotStyle(**{**self.bot.style, **drawn})
        return bots.update(self.bot, body=BotDto(**values), by=by)


class AppearanceForm(BotSettingsForm):
    heading = gettext_lazy("Appearance")
    styles = ("position", "dark_mode", "font")
    bot_name = forms.CharField(label=gettext_lazy("Name"), max_length=100)
    bot_icon = forms.CharField(
        label=gettext_lazy("Picture"),
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "https://"}),
        help_text=gettext_lazy("The address of a square picture, such as your logo."),
    )
    primary_color = _colour(gettext_lazy("Main colour"))
    secondary_color = _colour(gettext_lazy("Second colour"))
    position = forms.ChoiceField(label=gettext_lazy("Position"), choices=_CORNERS)
    dark_mode = forms.BooleanField(label=gettext_lazy("Dark theme"), required=False)
    font = forms.CharField(
        label=gettext_lazy("Font"),
        max_length=100,
        required=False,
        help_text=gettext_lazy("Leave empty for the font of the visitor's device."),
    )


class WindowForm(BotSettingsForm):
    heading = gettext_lazy("Chat window")
    styles = ("width", "height", "radius")
    is_visible = forms.BooleanField(label=gettext_lazy("Show the chat"), required=False)
    auto_pop_up = forms.BooleanField(
        label=gettext_lazy("Open automatically"),
        required=False,
        help_text=gettext_lazy("At most twice a day for each visitor."),
    )
    is_fullscreen = forms.BooleanField(label=gettext_lazy("Full screen when open"), required=False)
    attach_enabled = forms.BooleanField(
        label=gettext_lazy("Customers can attach files"), required=False
    )
    export_enabled = forms.BooleanField(
        label=gettext_lazy("Customers can download the conversation"), required=False
    )
    width = forms.IntegerField(label=gettext_lazy("Width in pixels"))
    height = forms.IntegerField(label=gettext_lazy("Height in pixels"))
    radius = forms.IntegerField(label=gettext_lazy("Rounding of the corners in pixels"))


class WelcomeForm(BotForm):
    heading = gettext_lazy("Welcome")
    intro = gettext_lazy("What customers read when they open the chat.")
    right = "train"

    def add_fields(self) -> None:
        self.add_texts(
            "welcome_message", gettext_lazy("Welcome"), self.bot.welcome_message, most=2_000, rows=3
        )

    def submit(self, data: dict[str, Any], by: User) -> BotDto:
        texts = self.texts(data, "welcome_message")
        return bots.update(self.bot, body=BotDto(welcome_message=texts), by=by)


class InvitationForm(BotForm):
    heading = gettext_lazy("Invitation and input field")

    def add_fields(self) -> None:
        self.add_texts(
            "engaging_message", gettext_lazy("Beside the closed chat"), self.bot.engaging_message,
            most=300,
        )  # fmt: skip
        self.add_field(
            "bot_question",
            forms.CharField(
                label=gettext_lazy("In the input field"),
                initial=self.bot.bot_question,
                max_length=300,
                required=False,
                help_text=gettext_lazy(
                    "Leave empty for “Write a message” in the customer's language."
                ),
            ),
        )

    def submit(self, data: dict[str, Any], by: User) -> BotDto:
        body = BotDto(
            engaging_message=self.texts(data, "engaging_message"),
            bot_question=data["bot_question"],
        )
        return bots.update(self.bot, body=body, by=by)


class TermsForm(BotForm):
    heading = gettext_lazy("Terms")
    intro = gettext_lazy(
        "What customers agree to before their first message. Leave empty for none."
    )

    def add_fields(self) -> None:
        self.add_texts("terms", gettext_lazy("Terms"), self.bot.terms, most=10_000, rows=4)

    def submit(self, data: dict[str, Any], by: User) -> BotDto:
        return bots.update(self.bot, body=BotDto(terms=self.texts(data, "terms")), by=by)


class BannerForm(BotForm):
    heading = gettext_lazy("Banner")
    intro = gettext_lazy("A picture above the conversation, for an offer or a notice.")
    right = "train"
    file = forms.FileField(
        label=gettext_lazy("Picture"),
        required=False,
        help_text=gettext_lazy("PNG, JPEG or WebP, up to 5 MB."),
    )
    link = forms.CharField(
        label=gettext_lazy("Opens this address"),
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "https://"}),
    )
    alt = forms.CharField(
        label=gettext_lazy("Alternative text"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Read to people who cannot see the picture."),
    )
    valid_from = forms.DateField(label=gettext_lazy("Show from"), required=False, widget=DateInput)
    valid_until = forms.DateField(
        label=gettext_lazy("Show until"), required=False, widget=DateInput
    )
    removes = forms.BooleanField(label=gettext_lazy("Remove the banner"), required=False)

    def stored(self) -> dict[str, Any]:
        bot = self.bot
        return {
            "link": bot.banner_link,
            "alt": bot.banner_alt,
            "valid_from": first_day(bot.banner_valid_from, bot),
            "valid_until": last_day(bot.banner_valid_to, bot),
        }

    def add_fields(self) -> None:
        if not self.bot.banner:
            del self.fields["removes"]

    def submit(self, data: dict[str, Any], by: User) -> Any:
        if data.get("removes"):
            return banner_picture.remove(self.bot, by=by)
        values: dict[str, Any] = {"link": data["link"], "alt": data["alt"]}
        # The API may have set times within a day: what was not changed here stays.
        begins, ends = self.bot.banner_valid_from, self.bot.banner_valid_to
        if "valid_from" in self.changed_data:
            begins = begin_of(data["valid_from"], self.bot)
        if "valid_until" in self.changed_data:
            ends = end_of(data["valid_until"], self.bot)
        values |= {"valid_from": begins, "valid_to": ends}
        if data["file"]:
            body = BannerUpload(file=data["file"], **values)
            return banner_picture.upload(self.bot, body=body, by=by)
        return banner_picture.update(self.bot, body=BotBannerDto(**values), by=by)
