"""A setting on a form has the type and the limits of the API's schema."""

from typing import Literal

from django import forms
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from pydantic import Field

from chatplatform.api.schemas import Schema
from chatplatform.form_fields import ScaledField, TextsField
from chatplatform.forms import Setting, SettingsForm


class Shop(Schema):
    name: str = Field(max_length=10)
    note: str = ""
    is_open: bool = True
    asks: bool | None = None
    days: int | None = Field(None, ge=1, le=9)
    wait_seconds: int = Field(60, ge=60, le=600)
    corner: Literal["left", "right"] = "left"


class ShopForm(SettingsForm):
    schemas = (Shop,)
    settings = (
        Setting("name", "Name"),
        Setting("note", "Note", lines=3),
        Setting("is_open", "Open"),
        Setting("asks", "Asks", choices=[("", "Default"), (True, "Yes"), (False, "No")]),
        Setting("days", "Days"),
        Setting("wait_seconds", "Minutes", unit=60),
        Setting("corner", "Corner", choices=[("left", "Left"), ("right", "Right")]),
    )


def test_fields_follow_the_schema():
    fields = ShopForm().fields
    assert [name for name, field in fields.items() if field.required] == [
        "name", "wait_seconds", "corner",
    ]  # fmt: skip
    assert fields["name"].widget.attrs["maxlength"] == "10"
    assert isinstance(fields["note"].widget, forms.Textarea)
    days, wait = fields["days"], fields["wait_seconds"]
    assert isinstance(days, forms.IntegerField)
    assert (days.min_value, days.max_value) == (1, 9)
    assert isinstance(wait, ScaledField)
    assert (wait.min_value, wait.max_value) == (1, 10)


def test_values_have_the_types_of_the_schema():
    form = ShopForm(QueryDict("name=Hoa&asks=False&wait_seconds=1.5&corner=right&days="))
    assert form.is_valid(), form.errors
    assert form.cleaned_data == {
        "name": "Hoa", "note": "", "is_open": False, "asks": False, "days": None,
        "wait_seconds": 90, "corner": "right",
    }  # fmt: skip
    assert ShopForm(QueryDict("name=Hoa&wait_seconds=1&corner=left&asks=")).is_valid()
    refused = ShopForm(QueryDict("name=Hoa&wait_seconds=11&corner=up&days=10"))
    assert set(refused.errors) == {"wait_seconds", "corner", "days"}


def test_a_help_text_is_text_unless_it_is_markup_of_ours():
    form = ShopForm()
    form.fields["name"].help_text = "A <b>name</b>"
    form.fields["note"].help_text = mark_safe("A <b>note</b>")
    name, note = (
        render_to_string("unfold/helpers/field.html", {"field": form[one]})
        for one in ("name", "note")
    )
    assert "A &lt;b&gt;name&lt;/b&gt;" in name
    assert "A <b>note</b>" in note


def test_texts_have_a_box_for_each_language():
    field = TextsField(max_length=20)
    field.offer(["vi", "en", "vi"])
    data = QueryDict("hello_vi=Chào&hello_en=+&hello_de=Hallo")
    value = field.widget.value_from_datadict(data, {}, "hello")
    assert field.clean(value) == {"vi": "Chào"}
    shown = field.widget.render("hello", {"vi": "Chào"}, {"id": "x"})
    assert 'id="x_vi"' in shown
    assert 'name="hello_en"' in shown
