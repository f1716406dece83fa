"""The forms of a bot's set-up page, each with the service that it calls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminColorInputWidget

from bots.models import Bot
from bots.services import bots, documents, prompt_versions, web_urls, written_sources
from bots.shapes.bot import BotDto, BotStyle
from bots.shapes.train import PromptDto
from bots.shapes.web_url import WebUrlDto
from bots.shapes.written import MAX_ANSWER, MAX_QUESTION, MAX_TEXT, MAX_TITLE, QuestionAnswerDto
from bots.shapes.written import TextDto as WrittenText
from chatplatform.forms import FilesField, ServiceForm
from identity.forms import DailyCreditsForm
from identity.models import KeyScope, User
from identity.services import api_keys

_CORNERS = [
    ("bottom-right", "Bottom right"),
    ("bottom-left", "Bottom left"),
    ("top-right", "Top right"),
    ("top-left", "Top left"),
]
_DEPTHS = [
    (0, "This page only"),
    (1, "And the pages that it links to"),
    (2, "Two links deep"),
    (3, "Three links deep"),
]


def _colour(label: str) -> forms.CharField:
    return forms.CharField(
        label=label, widget=UnfoldAdminColorInputWidget(attrs={"class": "colour"})
    )


class NewBotForm(ServiceForm):
    bot_name = forms.CharField(
        label="Name", max_length=100, help_text="As your customers see it. You can change it later."
    )


class FilesForm(ServiceForm):
    # Django's form metaclass removes declared fields, so `Form.files` is not shadowed.
    files = FilesField(  # type: ignore[assignment]
        label="Documents",
        help_text="PDF, Word, Excel, PowerPoint, HTML, CSV or text, up to 25 MB each. Drop them"
        " here, or choose them.",
    )


class WebForm(ServiceForm):
    url = forms.CharField(
        label="Web address",
        max_length=2000,
        widget=forms.TextInput(attrs={"placeholder": "https://your-shop.com/help"}),
        help_text="A page or a sitemap that everybody can read.",
    )
    crawl_depth = forms.TypedChoiceField(label="Pages", choices=_DEPTHS, coerce=int)


class TextForm(ServiceForm):
    title = forms.CharField(label="Title", max_length=MAX_TITLE)
    text = forms.CharField(
        label="Text", max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 6})
    )


class QuestionForm(ServiceForm):
    question = forms.CharField(label="Question", max_length=MAX_QUESTION)
    answer = forms.CharField(
        label="Answer",
        max_length=MAX_ANSWER,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Who asks nearly the same gets this answer.",
    )


class PromptForm(ServiceForm):
    content = forms.CharField(
        label="Instructions",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="How the bot speaks and what it keeps to, for a language model. Earlier versions"
        " are kept.",
    )


class LookForm(ServiceForm):
    bot_name = forms.CharField(label="Name", max_length=100)
    welcome_message = forms.CharField(
        label="Welcome", max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    primary_color = _colour("Main colour")
    secondary_color = _colour("Second colour")
    position = forms.ChoiceField(label="Corner of the page", choices=_CORNERS)
    dark_mode = forms.BooleanField(label="Light text on a dark ground", required=False)


class HostsForm(ServiceForm):
    allowed_domain = forms.CharField(
        label="Allowed websites",
        max_length=2000,
        help_text="Where the chat may be shown, such as shop.example or *.shop.example; several"
        " with commas.",
    )


class HoldForm(ServiceForm):
    hold_back_worse = forms.BooleanField(
        label=gettext_lazy("Hold back what makes its answers worse"),
        required=False,
        help_text=gettext_lazy(
            "New documents and, with a model, new instructions wait until the bot's golden"
            " questions were asked with them. If one fails that passed before, you decide. Without"
            " golden questions this changes nothing."
        ),
    )


@dataclass(frozen=True)
class Step:
    """A form of the set-up page with its texts and the service that it calls."""

    form: type[ServiceForm]
    title: str
    button: str
    done: str
    act: Callable[[Bot, dict[str, Any], User], Any]


def look_of(bot: Bot) -> dict[str, Any]:
    """The initial values of the form for the look."""
    style = BotStyle.model_construct(**bot.style)
    return {
        "bot_name": bot.bot_name,
        "welcome_message": bot.welcome_message.get(bot.default_language, ""),
        "primary_color": bot.primary_color,
        "secondary_color": bot.secondary_color,
        "position": style.position,
        "dark_mode": style.dark_mode,
    }


def _save_look(bot: Bot, data: dict[str, Any], by: User) -> None:
    drawn = {name: data.pop(name) for name in ("position", "dark_mode")}
    bots.update(bot, body=BotDto(**data, style=BotStyle(**{**bot.style, **drawn})), by=by)


# Steps for trainers, admins and owners.
TEACH = {
    "files": Step(
        FilesForm, "Upload documents", "Upload", "Uploaded: the bot reads them now.",
        lambda bot, data, by: documents.upload(bot, files=data["files"], by=by),
    ),
    "web": Step(
        WebForm, "Read a web site", "Read it", "The pages are read now.",
        lambda bot, data, by: web_urls.create(bot, body=WebUrlDto(**data), by=by),
    ),
    "text": Step(
        TextForm, "Write a text", "Save", "Saved: the bot reads it now.",
        lambda bot, data, by: written_sources.create(bot, body=WrittenText(**data), by=by),
    ),
    "question": Step(
        QuestionForm, "Answer a question", "Save", "Saved: the bot learns it now.",
        lambda bot, data, by: written_sources.create(bot, body=QuestionAnswerDto(**data), by=by),
    ),
    "prompt": Step(
        PromptForm, "Give instructions", "Save", "Saved as a new version.",
        lambda bot, data, by: prompt_versions.create(bot, body=PromptDto(**data), by=by),
    ),
}  # fmt: skip


def _make_public_key(bot: Bot, data: dict[str, Any], by: User) -> None:
    api_keys.create(
        bot.client, name="Web page", scope=KeyScope.PUBLIC, bot_id=bot.pk, created_by=by, **data
    )


# Steps for admins and owners only.
SHOW = {
    "look": Step(LookForm, "The look", "Save the look", "Saved.", _save_look),
    "hosts": Step(
        HostsForm, "Where it may be shown", "Save the websites", "Saved.",
        lambda bot, data, by: bots.update(bot, body=BotDto(**data), by=by),
    ),
    "hold": Step(
        HoldForm, cast("str", gettext_lazy("Hold back what makes it worse")),
        cast("str", gettext_lazy("Save")), cast("str", gettext_lazy("Saved.")),
        lambda bot, data, by: bots.update(bot, body=BotDto(**data), by=by),
    ),
    "key": Step(
        DailyCreditsForm, "The script tag", "Make the script tag", "Made.", _make_public_key
    ),
}  # fmt: skip
