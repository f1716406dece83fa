"""The site's pages of customers: the list, and a customer's page with its actions."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, JSONObject
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_lazy

from chatplatform import media
from chatplatform.admin_base import button, column, confirm_action, run_each, viewer
from chatplatform.forms import ServiceForm
from chatplatform.templatetags.dates import when
from chats.models import Conversation, Customer, CustomerErasure, ErasureStatus
from chats.pages import names
from chats.pages.list_filters import ListsWithoutPreviews
from chats.schemas.people import CustomerDto
from chats.services.data_exchange import erasing, exporting
from chats.services.desk import customer_editing
from identity.auth import Principal

# The maximum number of conversations on a customer's page.
_MAX_SHOWN = 25
_FIELDS = ("name", "email", "phone")


class CustomerForm(ServiceForm):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200, required=False)
    email = forms.EmailField(label=gettext_lazy("Email"), max_length=254, required=False)
    phone = forms.CharField(label=gettext_lazy("Phone"), max_length=40, required=False)


class BlockForm(ServiceForm):
    days = forms.TypedChoiceField(
        label=gettext_lazy("Duration"),
        coerce=int,
        choices=[
            (1, gettext_lazy("1 day")), (7, gettext_lazy("1 week")), (30, gettext_lazy("1 month")),
            (0, gettext_lazy("Until you unblock them")),
        ],
        initial=7,
    )  # fmt: skip
    reason = forms.CharField(
        label=gettext_lazy("Reason (only your team sees it)"), max_length=300, required=False
    )


@admin.register(Customer)
class CustomerAdmin(ListsWithoutPreviews):
    chat_path = None
    list_display = ("who", "email", "phone", "channels", "conversations", "latest_at", "client")
    list_display_links = ("who",)
    more_columns = ("external_id", "created_at")
    list_select_related = ("client",)
    search_fields = ("name", "email", "phone", "external_id")
    actions = ("erase",)
    actions_detail: Any = ("edit", "block", "unblock", "export", "erase_one")
    change_form_template = "admin/chats/customer.html"

    def listed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return customer_editing.without_previewers(rows)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        chats = Conversation.objects.filter(customer=OuterRef("pk"), is_preview=False).order_by()
        newest = chats.order_by("-id").values(
            chat=JSONObject(
                channel="channel", location="location", began="created_at",
                at=Coalesce("last_message_at", "created_at"),
            )
        )  # fmt: skip
        count = chats.values("customer").annotate(count=Count("pk")).values("count")
        # Customers who are being deleted are gone for people.
        erased = CustomerErasure.objects.filter(
            customer_id=OuterRef("pk"), status__in=[ErasureStatus.QUEUED, ErasureStatus.RUNNING]
        )
        rows: QuerySet[Any] = super().get_queryset(request).filter(~Exists(erased))
        found: QuerySet[Any] = rows.annotate(
            newest=Subquery(newest[:1]),
            conversation_count=Coalesce(Subquery(count), 0),
            used_channels=ArraySubquery(chats.values_list("channel").distinct()),
        )
        return found

    @column(gettext_lazy("Customer"), ordering="name")
    def who(self, row: Any) -> str:
        newest = row.newest or {}
        return names.customer_name(
            row,
            location=newest.get("location"),
            channel=newest.get("channel"),
            began=parse_datetime(newest["began"]) if newest else None,
        )

    @column(gettext_lazy("Channels"))
    def channels(self, row: Any) -> str:
        return ", ".join(names.channel_name(item) for item in sorted(row.used_channels)) or "–"

    @column(gettext_lazy("Conversations"))
    def conversations(self, row: Any) -> int:
        return int(row.conversation_count)

    @column(gettext_lazy("Last activity"))
    def latest_at(self, row: Any) -> SafeString | str:
        return when(parse_datetime(row.newest["at"]) if row.newest else row.created_at)

    def has_edit_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the person may edit customers: anyone at a client except viewers."""
        by = viewer(request)
        return by.client_id is not None and by.role != "viewer"

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        hidden = "block" if self.row(request, object_id).is_blocked else "unblock"
        found = super().get_actions_detail(request, object_id)
        return [item for item in found if item.method.__name__ != hidden]

    def detail_values(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """The template's values: the customer's data and newest conversations."""
        rows = Conversation.objects.for_client(row.client).filter(customer=row, is_preview=False)
        rows = rows.select_related("customer", "assignee", "bot", "last_message")
        found = list(rows.order_by("-id")[: _MAX_SHOWN + 1])
        return {
            "title": self.who(row),
            "customer": row,
            "channels": self.channels(row),
            "blocked": names.block_text(row),
            # In a template, `attributes.items` would be the customer's attribute named "items", if
            # there is one.
            "attributes": list(row.attributes.items()),
            "found": [(chat, names.state_of(chat)[1], names.channel_name(chat.channel))
                      for chat in found[:_MAX_SHOWN]],
            "has_more": len(found) > _MAX_SHOWN,
        }  # fmt: skip

    @button(gettext_lazy("Edit"), url_path="edit", permissions=["edit"], icon="edit")
    def edit(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form to change a customer's name and contact data."""
        row = self.row(request, object_id)
        initial = {name: getattr(row, name) for name in _FIELDS}
        form = CustomerForm(request.POST or None, initial=initial)

        def act(data: dict[str, Any]) -> HttpResponse:
            changed = {name: data[name] or None for name in _FIELDS if data[name] != initial[name]}
            return self._save(request, row, changed, gettext("Saved."))

        return self.form_page(request, form, act, title=self.who(row), button=gettext("Save"))

    @button(gettext_lazy("Block…"), url_path="block", permissions=["edit"], icon="block")
    def block(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form to block a customer for a limited time or indefinitely."""
        row = self.row(request, object_id)

        def act(data: dict[str, Any]) -> HttpResponse:
            days = timedelta(days=data["days"])
            until = timezone.now() + days if days else customer_editing.FOREVER
            success = gettext("%(name)s is blocked.") % {"name": self.who(row)}
            block = {"blocked_until": until, "block_reason": data["reason"] or None}
            return self._save(request, row, block, success)

        return self.form_page(
            request, BlockForm(request.POST or None), act,
            title=gettext("Block %(name)s?") % {"name": self.who(row)},
            button=gettext("Block"),
            variant="danger",
            cancel=reverse("admin:chats_customer_change", args=[row.pk]),
            intro=gettext(
                "While blocked, they can't message you on any channel, and no one sees what they"
                " send. Their conversations with your team will end."
            ),
        )  # fmt: skip

    @button(gettext_lazy("Unblock"), url_path="unblock", permissions=["edit"],
        icon="lock_open",
    )  # fmt: skip
    def unblock(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """End a customer's block, after a confirmation."""
        row = self.row(request, object_id)

        def act(_: dict[str, Any]) -> HttpResponse:
            success = gettext("%(name)s can message you again.") % {"name": self.who(row)}
            return self._save(request, row, {"blocked_until": None}, success)

        return self.confirm_page(
            request, act,
            title=gettext("Unblock %(name)s?") % {"name": self.who(row)},
            button=gettext("Unblock"),
            cancel=reverse("admin:chats_customer_change", args=[row.pk]),
        )  # fmt: skip

    def _save(
        self, request: HttpRequest, row: Customer, changes: dict[str, Any], success: str
    ) -> HttpResponse:
        caller = Principal(row.client, user=viewer(request))
        customer_editing.edit(caller, row.pk, CustomerDto(**changes))
        messages.success(request, success)
        return redirect("admin:chats_customer_change", row.pk)

    @button(gettext_lazy("Export"), url_path="export", permissions=["manage"],
        icon="download", is_recorded=True,
    )  # fmt: skip
    def export(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Download the customer's data, conversations, messages and files as a ZIP file."""
        row = self.row(request, object_id)
        caller = Principal(row.client, user=viewer(request))
        return media.file_response(
            exporting.write_customer(caller, row.pk),
            mime_type="application/zip",
            cache_control="no-store",
            download_as=f"{slugify(row.name) or 'customer'}.zip",
        )

    @button(gettext_lazy("Delete"), url_path="erase", permissions=["manage"], icon="delete")
    def erase_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Start to erase the customer with all conversations, messages and files, after a
        confirmation."""
        row = self.row(request, object_id)

        def act(data: dict[str, Any]) -> HttpResponse:
            erasing.request(Principal(row.client, user=viewer(request)), row.pk)
            messages.success(
                request, gettext("%(name)s is being deleted.") % {"name": self.who(row)}
            )
            return redirect("admin:chats_customer_changelist")

        return self.confirm_page(
            request, act,
            title=gettext("Delete “%(name)s”?") % {"name": self.who(row)},
            button=gettext("Delete permanently"),
            variant="danger",
            cancel=reverse("admin:chats_customer_change", args=[row.pk]),
            intro=gettext(
                "This deletes the customer and all their conversations, messages, and files. It"
                " can't be undone."
            ),
        )  # fmt: skip

    @admin.action(description=gettext_lazy("Delete"), permissions=["manage"])
    @confirm_action(
        gettext_lazy(
            "Delete these customers and all their conversations, messages, and files? This can't be"
            " undone."
        )
    )
    def erase(self, request: HttpRequest, rows: QuerySet[Customer]) -> None:
        by = viewer(request)
        run_each(request, rows, lambda row: erasing.request(Principal(row.client, user=by), row.pk))
