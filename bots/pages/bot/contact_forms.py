"""The forms that set which details a bot asks its customers for."""

import re
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from bots.forms import BotForm
from bots.language.normalization import fold
from bots.language.slot_filling import CONTACT
from bots.models import Bot
from bots.schemas.widget import CustomerInfoField, CustomerInfoFields, Option
from bots.services import bots, customer_info_fields
from chatplatform.form_fields import TextsField
from identity.models import User

_OFF, _OPTIONAL, _REQUIRED = "", "optional", "required"
_ASK_CHOICES = [
    (_OFF, gettext_lazy("Don't ask")),
    (_OPTIONAL, gettext_lazy("Ask")),
    (_REQUIRED, gettext_lazy("Ask (required)")),
]
_WHEN_CHOICES = [
    ("before", gettext_lazy("In a form, before the chat")),
    ("during", gettext_lazy("By the bot, after an answer")),
    ("person", gettext_lazy("By the bot, before it hands over to your team")),
]
_WHEN_HELP = gettext_lazy(
    "Only the form insists on required details; messaging apps have no form, so the bot asks there."
    " Before a handover, the bot asks once: customers who don't answer reach your team all the"
    " same."
)
_LABELS = {
    "name": gettext_lazy("Name"),
    "email": gettext_lazy("Email address"),
    "phone": gettext_lazy("Phone number"),
}
_TYPES = [
    ("text", gettext_lazy("Text")),
    ("number", gettext_lazy("Number")),
    ("date", gettext_lazy("Date")),
    ("email", gettext_lazy("Email address")),
    ("phone", gettext_lazy("Phone number")),
    ("select", gettext_lazy("Dropdown")),
]


def _change(bot: Bot, fields: list[CustomerInfoField], by: User) -> CustomerInfoFields:
    """Store the fields, without texts in languages that the bot no longer offers. A field without a
    label gets its name as the label."""
    for field in fields:
        for texts in (field.label, field.question):
            for code in [code for code in texts if bot.languages and code not in bot.languages]:
                del texts[code]
        field.label = field.label or {bot.default_language: field.name}
    return customer_info_fields.update(bot, body=CustomerInfoFields(fields=fields), by=by)


def _stored(bot: Bot) -> list[CustomerInfoField]:
    return [CustomerInfoField(**field) for field in bot.customer_info_fields]


class ContactForm(BotForm):
    heading = gettext_lazy("Contact details")
    intro = gettext_lazy("Choose what to ask customers for.")
    right = "train"
    name = forms.ChoiceField(label=_LABELS["name"], choices=_ASK_CHOICES, required=False)
    email = forms.ChoiceField(label=_LABELS["email"], choices=_ASK_CHOICES, required=False)
    phone = forms.ChoiceField(label=_LABELS["phone"], choices=_ASK_CHOICES, required=False)
    when = forms.ChoiceField(
        label=gettext_lazy("When to ask"), choices=_WHEN_CHOICES, help_text=_WHEN_HELP
    )

    def stored(self) -> dict[str, Any]:
        contact_fields = {field.name: field for field in _stored(self.bot) if field.name in CONTACT}
        return {"when": _when(list(contact_fields.values()))} | {
            name: _REQUIRED if field.required else _OPTIONAL
            for name, field in contact_fields.items()
        }

    def submit(self, data: dict[str, Any], by: User) -> CustomerInfoFields:
        bot = bots.get(self.bot.client, self.bot.pk)
        stored = {field.name: field for field in _stored(bot)}
        contact = [
            (stored.get(name) or _new(bot, name, kind)).model_copy(
                update={
                    "required": data[name] == _REQUIRED,
                    **_asked(data["when"]),
                }
            )
            for name, kind in CONTACT.items()
            if data[name]
        ]
        others = [field for name, field in stored.items() if name not in CONTACT]
        return _change(bot, [*contact, *others], by)


def _when(fields: list[CustomerInfoField]) -> str:
    """The form's choice for the stored fields: the first moment at which any of them is asked."""
    if not fields or any(field.ask_before_chat for field in fields):
        return "before"
    return "person" if any(field.ask_before_person for field in fields) else "during"


def _asked(when: str) -> dict[str, bool]:
    """The columns of a field that say when it is asked for."""
    return {"ask_before_chat": when == "before", "ask_before_person": when == "person"}


def _new(bot: Bot, name: str, kind: Any) -> CustomerInfoField:
    default = bot.default_language
    label = bots.in_language(customer_info_fields.labels(name, {}), default, default="en")
    return CustomerInfoField(name=name, label={default: label or name}, type=kind)


class OtherFieldsForm(BotForm):
    heading = gettext_lazy("Other details")
    intro = gettext_lazy("Ask for anything else you need, such as an order number.")
    right = "train"
    removed = forms.MultipleChoiceField(
        label=gettext_lazy("Stop asking for"),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )
    label = TextsField(label=gettext_lazy("Also ask for"), max_length=100, lines=1)
    type = forms.ChoiceField(label=gettext_lazy("Type"), choices=_TYPES)
    options = forms.CharField(
        label=gettext_lazy("Options"),
        required=False,
        max_length=6_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("For dropdowns only. One option per line."),
    )
    required = forms.BooleanField(label=gettext_lazy("Required"), required=False)
    when = forms.ChoiceField(
        label=gettext_lazy("When to ask"), choices=_WHEN_CHOICES, help_text=_WHEN_HELP
    )

    def add_fields(self) -> None:
        default = self.bot.default_language
        others = [
            (field.name, bots.in_language(field.label, default, default=default) or field.name)
            for field in _stored(self.bot)
            if field.name not in CONTACT
        ]
        self.offer("removed", others)
        if not others:
            del self.fields["removed"]

    def submit(self, data: dict[str, Any], by: User) -> CustomerInfoFields:
        bot = bots.get(self.bot.client, self.bot.pk)
        removed = data.get("removed", [])
        fields = [field for field in _stored(bot) if field.name not in removed]
        if data["label"]:
            fields.append(_added(bot, data, {field.name for field in fields}))
        elif not removed:
            raise forms.ValidationError(gettext("Enter what to ask customers for."))
        return _change(bot, fields, by)


def _added(bot: Bot, data: dict[str, Any], used_names: set[str]) -> CustomerInfoField:
    label = data["label"]
    words = label.get(bot.default_language) or next(iter(label.values()))
    lines = [line.strip() for line in data["options"].splitlines() if line.strip()]
    is_list = data["type"] == "select"
    return CustomerInfoField(
        name=_name(words, used_names | set(CONTACT)),
        label=label,
        type=data["type"],
        required=data["required"],
        **_asked(data["when"]),
        options=[Option(label=line, value=line) for line in lines] if is_list else [],
    )


def _name(words: str, used_names: set[str]) -> str:
    """An unused name for a customer attribute: its label in ASCII, with a number if that name is in
    `used_names`."""
    base = re.sub(r"[^a-z0-9]+", "_", fold(words)).strip("_")[:34] or "field"
    base = base if base[0].isalpha() else f"field_{base}"[:34]
    names = (base, *(f"{base}_{number}" for number in range(2, 100)))
    return next(name for name in names if name not in used_names)
