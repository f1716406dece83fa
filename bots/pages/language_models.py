"""The pages for connecting, changing, testing and removing a client's own models and encoders."""

from collections.abc import Collection
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminPasswordWidget

from bots.models import Bot, LanguageModel, ModelPurpose
from bots.schemas.language_model import LanguageModelDto
from bots.services import bots, engines, language_models
from chatplatform.admin_base import (
    ADMINS,
    TenantAdmin,
    button,
    column,
    confirm_action,
    progress_bar,
    run_each,
    viewer,
)
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.forms import Setting, SettingsForm
from identity.models import Client


class ModelForm(SettingsForm):
    schemas = (LanguageModelDto,)
    settings = (
        Setting(
            "base_url", gettext_lazy("URL"),
            gettext_lazy(
                "The URL of a public server with an OpenAI-compatible API. Leave out the last"
                " part, such as /chat/completions or /embeddings."
            ),
            attrs={"placeholder": "https://api.openai.com/v1"},
        ),
        Setting("model", gettext_lazy("Name"), gettext_lazy("The model's name on that server.")),
        Setting(
            "api_key", gettext_lazy("Key"), gettext_lazy(
                "Stored encrypted and never shown. Leave empty if the server doesn't need one."
            ),
            widget=UnfoldAdminPasswordWidget, attrs={"autocomplete": "new-password"},
        ),
        Setting(
            "reads_pictures", gettext_lazy("Reads images"),
            gettext_lazy("The model sees the images that customers send with their questions."),
        ),
        Setting(
            "transcription_model", gettext_lazy("Model for voice notes"),
            gettext_lazy(
                "The server's model for transcribing speech, such as whisper-1. Leave empty if it"
                " doesn't have one."
            ),
        ),
        Setting(
            "credits_per_1000_tokens", gettext_lazy("Price"),
            gettext_lazy("Credits per 1,000 tokens, rounded up. Searches are free."),
        ),
    )  # fmt: skip
    removes_key = forms.BooleanField(
        label=gettext_lazy("Remove saved key"),
        required=False,
        help_text=gettext_lazy("For servers that don't need a key."),
    )
    field_order: Any = ("base_url", "model", "api_key", "removes_key")

    def changed_together(self, name: str) -> Collection[str]:
        """The URL and the key for `base_url`, since a key belongs to the URL to which it is sent;
        for other fields, only the field itself."""
        return ("base_url", "api_key") if name == "base_url" else (name,)

    def clean(self) -> dict[str, Any]:
        """The values for the service: an empty `api_key` removes the stored key, None keeps it."""
        data = self.cleaned_data
        is_removed, key = data.pop("removes_key"), data.get("api_key")
        if is_removed and key:
            text = gettext("Enter a key or remove the saved one, not both.")
            self.add_error("removes_key", text)
        data["api_key"] = "" if is_removed else key or None
        return data


class NewModelForm(ModelForm):
    purpose = forms.ChoiceField(
        label=gettext_lazy("Purpose"),
        choices=[
            ("chat", gettext_lazy("Write answers")),
            ("embeddings", gettext_lazy("Search the content (embeddings)")),
        ],
        initial="chat",
        required=False,
        help_text=gettext_lazy(
            "A search model finds passages by meaning, for all bots. Bots keep answering while"
            " your content is reindexed."
        ),
    )
    bot = forms.ChoiceField(label=gettext_lazy("For"), required=False)
    field_order: Any = ("purpose", "bot", *ModelForm.field_order)

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("purpose") == "embeddings" and data.get("bot"):
            self.add_error("bot", gettext("A search model works for all bots."))
        return data


@admin.register(LanguageModel)
class LanguageModelAdmin(TenantAdmin):
    """Connected models. The API key itself is never shown."""

    read_by = ADMINS
    list_display = (
        "model", "client", "used_to", "used_for", "base_url", "credits_per_1000_tokens",
        "updated_at",
    )  # fmt: skip
    search_fields = ("model", "base_url", "client__name", "bot__bot_name")
    list_select_related = ("client", "bot")
    fields = (
        "client", "used_to", "bot", "base_url", "model", "key", "reads_pictures",
        "transcription_model", "credits_per_1000_tokens", "updated_at",
    )  # fmt: skip
    readonly_fields = ("key", "used_to")
    actions = ("test", "remove")
    actions_list = ("set_model",)
    actions_detail = ("edit",)

    # The action `test` calls the model's server.
    changelist_view = calls_out(TenantAdmin.changelist_view)

    @property
    def when_empty(self) -> str:
        if not engines.platform_has_model():
            return super().when_empty
        return gettext(
            "Your bots use the platform's language model. Select “Connect model” to use your own."
        )

    @column(gettext_lazy("Used by"))
    def used_for(self, row: LanguageModel) -> str:
        return str(row.bot) if row.bot else gettext("All bots")

    @column(gettext_lazy("Purpose"))
    def used_to(self, row: LanguageModel) -> str:
        if row.purpose == ModelPurpose.CHAT:
            return gettext("Write answers")
        if row.indexed_percent == 100:
            return gettext("Search the content")
        text = gettext("Search the content once it's indexed:")
        return format_html("{} {}", text, progress_bar(row.indexed_percent, 100))

    @column(gettext_lazy("Key"))
    def key(self, row: LanguageModel) -> str:
        return gettext("Stored") if row.api_key else gettext("None")

    @calls_out
    @button(gettext_lazy("Connect model"), permissions=["create"], icon="add")
    def set_model(self, request: HttpRequest) -> HttpResponse:
        """Connect a model for the client or for one of its bots, and test it."""
        client: Client = viewer(request).client
        form = NewModelForm(request.POST or None, initial={"credits_per_1000_tokens": 1})
        form.offer("bot", [("", gettext("All bots")), *bots.names(client).items()])
        if any(row.api_key for row in language_models.list_for_client(client)):
            form.fields["api_key"].help_text = gettext(
                "Stored encrypted and never shown. Leave empty to keep the saved one."
            )

        def act(data: dict[str, Any]) -> HttpResponse:
            chosen, purpose = data.pop("bot"), data.pop("purpose") or "chat"
            bot = bots.get(client, int(chosen)) if chosen else None
            return self._store(request, client, bot, data, purpose)

        return self._page(request, form, act)

    @calls_out
    @button(gettext_lazy("Change"), url_path="edit", permissions=["manage"], icon="edit")
    def edit(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Change the model's settings, and test it."""
        row: LanguageModel = self.row(request, object_id)
        shown = (
            "base_url", "model", "reads_pictures", "transcription_model", "credits_per_1000_tokens",
        )  # fmt: skip
        form = ModelForm(request.POST or None, initial={name: getattr(row, name) for name in shown})
        form.fields["api_key"].help_text = (
            gettext("A key is saved. Leave empty to keep it. Stored encrypted and never shown.")
            if row.api_key
            else gettext("No key saved. Stored encrypted and never shown.")
        )
        return self._page(
            request,
            form,
            lambda data: self._store(request, row.client, row.bot, data, row.purpose),
        )

    @admin.action(description=gettext_lazy("Test"), permissions=["manage"])
    def test(self, request: HttpRequest, rows: QuerySet[LanguageModel]) -> None:
        for row in rows:
            self._show_test(request, row)

    @admin.action(description=gettext_lazy("Remove"), permissions=["manage"])
    @confirm_action(
        gettext_lazy(
            "Remove these models and their keys? Bots will go back to the next available model."
        )
    )
    def remove(self, request: HttpRequest, rows: QuerySet[LanguageModel]) -> None:
        by = viewer(request)
        run_each(
            request,
            rows,
            lambda row: language_models.remove(row.client, row.bot, by=by, purpose=row.purpose),
        )

    def _page(self, request: HttpRequest, form: ModelForm, act: Any) -> HttpResponse:
        return self.form_page(
            request, form, act,
            title=gettext("Connect your own model"),
            button=gettext("Save and test"),
            intro=gettext(
                "Your bots use it instead of the platform's model. If it fails, they carry on as"
                " before."
            )
            if engines.platform_has_model()
            else gettext(
                "Your bots write their answers with it. Without one, they quote your content."
            ),
        )  # fmt: skip

    def _store(
        self,
        request: HttpRequest,
        client: Client,
        bot: Bot | None,
        data: dict[str, Any],
        purpose: Any,
    ) -> HttpResponse:
        body, by = LanguageModelDto(**data), viewer(request)
        row = language_models.store(client, bot, body=body, by=by, purpose=purpose)
        self._show_test(request, row)
        return cast("HttpResponse", redirect("admin:bots_languagemodel_change", row.pk))

    def _show_test(self, request: HttpRequest, row: LanguageModel) -> None:
        """Test the model and show the result as a message."""
        result = language_models.test(row)
        if result.is_working:
            text = gettext("%(model)s works: %(time)s ms.")
            values = {"model": row.model, "time": result.duration_ms}
            messages.success(request, text % values)
        else:
            text = gettext("%(model)s didn't return a usable answer. %(error)s")
            messages.error(request, text % {"model": row.model, "error": result.error})
