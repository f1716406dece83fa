"""The form with all of a bot's procedures, and empty fields for a new procedure."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, gettext_lazy

from bots.forms import BotForm
from bots.models import Function
from bots.schemas.procedure import MAX_CHARS, MAX_PROCEDURES, Procedure, Procedures
from bots.services import bots, procedures
from chatplatform.api.errors import Invalid
from identity.models import User

_EXAMPLE = gettext_lazy(
    "ask order_number: What's your order number?\ncall find_order\n"
    "if {find_order.age_days} > 30:\n    say: We take orders back within 30 days.\n    end\n"
    "confirm: Refund order {order_number}?\ncall refund\nsay: Done. You'll be refunded soon."
)


class ProceduresForm(BotForm):
    heading = gettext_lazy("Procedures")
    intro = gettext_lazy(
        "Tasks the bot handles step by step, such as refunds. Each line is a step: ask, call,"
        " confirm, say, if, else, hand over, end."
    )
    right = "train"

    def stored(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for at, procedure in enumerate(Procedures.from_bot(self.bot).procedures):
            values |= {
                f"name_{at}": procedure.name,
                f"starts_{at}": "\n".join(procedure.starts_with),
                f"steps_{at}": procedure.steps,
                f"is_enabled_{at}": procedure.is_enabled,
            }
        return values

    def add_fields(self) -> None:
        count = len(self.bot.procedures)
        functions = Function.objects.filter(bot=self.bot).order_by("name")
        names = [format_html("<code>call {}</code>", row.name) for row in functions]
        callable_help = gettext("Functions:") + " " if names else ""
        for at in range(min(count + 1, MAX_PROCEDURES)):
            is_new = at == count
            name = gettext("New procedure") if is_new else gettext("Name")
            name_help = "" if is_new else gettext("Clear the name to delete the procedure.")
            field = forms.CharField(label=name, max_length=60, required=False, help_text=name_help)
            self.add_field(f"name_{at}", field)
            starts = forms.CharField(
                label=gettext("What customers say to start it"),
                max_length=2_000, required=False, widget=forms.Textarea(attrs={"rows": 2}),
                help_text=gettext("Examples, one per line."),
            )  # fmt: skip
            self.add_field(f"starts_{at}", starts)
            attrs = {"rows": 8, "spellcheck": "false", "class": "font-mono"}
            steps = forms.CharField(
                label=gettext("Steps"),
                max_length=MAX_CHARS, required=False, strip=False,
                widget=forms.Textarea(attrs=attrs | {"placeholder": _EXAMPLE}),
                help_text=format_html(
                    "{} {}{}",
                    mark_safe(gettext(
                        "Indent the lines below a condition. Values in braces, such as"
                        " <code>{order_number}</code>, come from questions and functions."
                    )),
                    callable_help,
                    format_html_join(", ", "{}", ((name,) for name in names)),
                ),
            )  # fmt: skip
            self.add_field(f"steps_{at}", steps)
            if not is_new:
                on = forms.BooleanField(label=gettext("Use this procedure"), required=False)
                self.add_field(f"is_enabled_{at}", on)

    def changed_together(self, name: str) -> Collection[str]:
        """All fields of the form, since procedures are identified by their position."""
        return list(self.fields)

    def clean(self) -> dict[str, Any]:
        """Require examples and steps for each procedure that has a name, and a name for a new
        procedure if any of its fields is filled."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        for at in range(min(len(self.bot.procedures) + 1, MAX_PROCEDURES)):
            names = (f"name_{at}", f"starts_{at}", f"steps_{at}")
            missing = [name for name in names if not data.get(name, "").strip()]
            is_new = at == len(self.bot.procedures)
            if len(missing) == len(names) or (names[0] in missing and not is_new):
                continue
            for name in set(missing) - set(self.errors):
                self.add_error(name, self.fields[name].error_messages["required"])
        return data

    def submit(self, data: dict[str, Any], by: User) -> Procedures:
        rows = sorted({int(name.rpartition("_")[2]) for name in data})
        rows = [at for at in rows if data[f"name_{at}"]]
        entered = [
            Procedure(
                name=data[f"name_{at}"],
                starts_with=[line for line in data[f"starts_{at}"].splitlines() if line.strip()],
                steps=data[f"steps_{at}"].rstrip(),
                is_enabled=data.get(f"is_enabled_{at}", True),
            )
            for at in rows
        ]
        bot = bots.get(self.bot.client, self.bot.pk)
        try:
            return procedures.update(bot, body=Procedures(procedures=entered), by=by)
        except Invalid as refused:
            # The error names a field of the API; the form's fields have other names.
            *_, position, part = refused.errors[0]["loc"]
            msg = refused.errors[0]["msg"]
            raise Invalid.field(f"{part}_{rows[position]}", msg=msg) from refused
