"""The forms for a bot's widget: its branding, window, messages, banner and terms."""

from typing import Any

from django import forms
from django.db import transaction
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminColorInputWidget

from bots.forms import BotForm, changed_times, day_field, days_of
from bots.schemas.widget import (
    Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post as BannerUpload,
)
from bots.schemas.widget import BotBannerDto
from bots.services import banner_picture, bots, uploaded_pictures
from chatplatform.form_fields import picture_field
from chatplatform.forms import Setting
from identity.models import User
from identity.services.picture_hooks import AVATAR_SIDE

_CORNERS = [
    ("bottom-right", gettext_lazy("Bottom right")),
    ("bottom-left", gettext_lazy("Bottom left")),
    ("top-right", gettext_lazy("Top right")),
    ("top-left", gettext_lazy("Top left")),
]
_THEMES = [
    ("False", gettext_lazy("Light")),
    ("True", gettext_lazy("Dark")),
    ("system", gettext_lazy("Same as the visitor's system")),
]
_VISITORS = [
    ("all", gettext_lazy("All visitors")),
    ("new", gettext_lazy("New visitors")),
    ("returning", gettext_lazy("Returning visitors")),
]
_URL_ATTRS = {"placeholder": "https://"}
_COLOR: dict[str, Any] = {"widget": UnfoldAdminColorInputWidget, "attrs": {"class": "colour"}}


class AppearanceForm(BotForm):
    heading = gettext_lazy("Branding")
    settings = (
        Setting("bot_name", gettext_lazy("Name")),
        Setting(
            "bot_icon", gettext_lazy("Avatar URL"),
            gettext_lazy("Filled in when you upload an image. Clear it to remove the avatar."),
            attrs=_URL_ATTRS,
        ),
        Setting("primary_color", gettext_lazy("Primary color"), **_COLOR),
        Setting("secondary_color", gettext_lazy("Secondary color"), **_COLOR),
        Setting("position", gettext_lazy("Position"), choices=_CORNERS),
        Setting("dark_mode", gettext_lazy("Theme"), choices=_THEMES),
        Setting(
            "font", gettext_lazy("Font"),
            gettext_lazy("Leave empty to use the visitor's system font."),
        ),
    )  # fmt: skip
    field_order = ("bot_name", "file", "bot_icon")

    def stored(self) -> dict[str, Any]:
        return super().stored() | {"bot_icon": self.bot.picture_url}

    def add_fields(self) -> None:
        self.add_field("file", picture_field(gettext("Avatar"), self.bot.icon_file))
        self.order_fields(self.field_order)

    def submit(self, data: dict[str, Any], by: User) -> Any:
        file, changed = data.pop("file"), self.only_changed(data)
        if not file:
            return self.change(changed, by)
        changed.pop("bot_icon", None)
        with (
            uploaded_pictures.stored(file, largest_side=AVATAR_SIDE) as picture,
            transaction.atomic(),
        ):
            result = self.change(changed, by)
            bots.set_icon(self.bot, picture, by=by)
            return result


class WindowForm(BotForm):
    heading = gettext_lazy("Chat window")
    settings = (
        Setting("is_visible", gettext_lazy("Show the chat")),
        Setting("is_fullscreen", gettext_lazy("Open in full screen")),
        Setting("attach_enabled", gettext_lazy("Customers can attach files")),
        Setting("export_enabled", gettext_lazy("Customers can download the transcript")),
        Setting("width", gettext_lazy("Width (pixels)")),
        Setting("height", gettext_lazy("Height (pixels)")),
        Setting("radius", gettext_lazy("Corner radius (pixels)")),
        Setting(
            "bot_question", gettext_lazy("Placeholder in the message box"),
            gettext_lazy("Leave empty for “Write a message” in the customer's language."),
        ),
    )  # fmt: skip


class WelcomeForm(BotForm):
    heading = gettext_lazy("Welcome message")
    intro = gettext_lazy("What customers see when they open the chat.")
    right = "train"
    settings = (Setting("welcome_message", gettext_lazy("Welcome message"), lines=3),)


class InvitationForm(BotForm):
    heading = gettext_lazy("Proactive message")
    intro = gettext_lazy("Shown to visitors before they open the chat.")
    settings = (
        Setting(
            "engaging_message", gettext_lazy("Message next to the chat button"),
            gettext_lazy("At most twice a day per visitor."),
        ),
        Setting(
            "engaging_seconds", gettext_lazy("Delay (seconds)"),
            gettext_lazy("Starts when the page opens. Also applies to “Open automatically”."),
        ),
        Setting(
            "engaging_pages", gettext_lazy("Only on these pages"),
            gettext_lazy("Paths such as /prices, /shop/*. Leave empty for all pages."),
        ),
        Setting(
            "auto_pop_up", gettext_lazy("Open automatically"),
            gettext_lazy("At most twice a day per visitor."),
        ),
        Setting("engaging_visitors", gettext_lazy("Show to"), choices=_VISITORS),
    )  # fmt: skip


class TermsForm(BotForm):
    heading = gettext_lazy("Terms")
    intro = gettext_lazy(
        "What customers accept before their first message. Leave empty if you don't need this."
    )
    settings = (Setting("terms", gettext_lazy("Terms"), lines=4),)


class BannerForm(BotForm):
    heading = gettext_lazy("Banner")
    intro = gettext_lazy("An image above the chat, such as a special offer or an announcement.")
    right = "train"
    schemas = (BotBannerDto,)
    settings = (
        Setting("link", gettext_lazy("Link"), attrs=_URL_ATTRS),
        Setting(
            "alt", gettext_lazy("Alt text"),
            gettext_lazy("Read aloud to people who can't see the image."),
        ),
    )  # fmt: skip
    valid_from = day_field(gettext_lazy("Show from"))
    valid_until = day_field(gettext_lazy("Show until"))
    removes = forms.BooleanField(label=gettext_lazy("Remove banner"), required=False)
    field_order = ("file", "link", "alt")

    def stored(self) -> dict[str, Any]:
        bot = self.bot
        texts = {"link": bot.banner_link, "alt": bot.banner_alt}
        return texts | days_of(bot.banner_valid_from, bot.banner_valid_to, bot)

    def add_fields(self) -> None:
        stored = self.bot.banner
        self.add_field("file", picture_field(gettext("Image"), stored, self.bot.banner_alt))
        self.order_fields(self.field_order)
        if not stored:
            del self.fields["removes"]

    def submit(self, data: dict[str, Any], by: User) -> Any:
        if data.get("removes"):
            return banner_picture.remove(self.bot, by=by)
        texts, times = {name: data[name] for name in ("link", "alt")}, changed_times(self)
        if not data["file"]:
            return banner_picture.update(self.bot, body=BotBannerDto(**texts, **times), by=by)
        # An upload replaces the whole banner, so it must include the stored days.
        kept = {"valid_from": self.bot.banner_valid_from, "valid_to": self.bot.banner_valid_to}
        body = BannerUpload(file=data["file"], **texts, **kept | times)
        return banner_picture.upload(self.bot, body=body, by=by)
