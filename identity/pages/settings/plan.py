"""The page of a client's plan and credits: how many are left, how long they will last, and orders
for more."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy

from chatplatform import ids
from chatplatform.admin_base import ADMINS, EVERYBODY, viewer
from chatplatform.forms import ServiceForm
from identity.models import Client, CreditOrder, Plan, Subscription
from identity.pages.settings.base import Part, own_client, show, submitted_values
from identity.schemas.clients import TopUpAmount
from identity.services import credit_forecast, credit_orders

_ORDERS_SHOWN = 20
# How old a company must be for a forecast from its use.
_DAYS_OF_USE = timedelta(days=3)
PLAN_NAMES = {
    Plan.TRIAL: gettext_lazy("Trial"),
    Plan.STANDARD: gettext_lazy("Standard"),
    Plan.UNLIMITED: gettext_lazy("Unlimited"),
}


class OrderForm(ServiceForm):
    """An order for any number of credits."""

    amount: forms.Field = forms.IntegerField(
        label=gettext_lazy("Credits"), min_value=1, max_value=1_000_000
    )
    reference = forms.CharField(
        label=gettext_lazy("Your reference"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Optional. For example, your purchase order number."),
    )

    def clean_reference(self) -> str:
        given: str = self.cleaned_data["reference"]
        return given or f"{timezone.localdate():%Y-%m-%d}-{ids.short_code(6)}"


class PackForm(OrderForm):
    """An order for one of the packs that the platform's operator sells."""

    amount = forms.TypedChoiceField(label=gettext_lazy("Credits"), coerce=int)

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        self.offer("amount", _labels(settings.CREDIT_PACKS))


def page(site: Any, request: HttpRequest) -> HttpResponse:
    """The page of the plan and its credits; owners and admins can order more. Platform staff are
    redirected to the list of plans."""
    if viewer(request).is_superuser:
        plans = reverse("admin:identity_subscription_changelist")
        return redirect(f"{plans}?{request.GET.urlencode()}")
    client, by = own_client(request, EVERYBODY), viewer(request)
    form = (PackForm if settings.CREDIT_PACKS else OrderForm)(submitted_values(request, "order"))

    def order(data: dict[str, Any]) -> object:
        return credit_orders.create(client, **TopUpAmount(**data).model_dump(), by=by)

    part = Part(
        "order", gettext("Order credits"), form, order, button=gettext_lazy("Order credits"),
        done=gettext_lazy("Order placed. We'll add the credits once it's paid."),
    )  # fmt: skip
    parts = [part] if by.role in ADMINS else []
    return show(
        site, request, gettext("Plan and credits"), parts, template="settings/plan",
        **_shown(client), has_prices=bool(settings.CREDIT_PACKS),
    )  # fmt: skip


def _shown(client: Client) -> dict[str, Any]:
    account: Subscription = Subscription.objects.for_client(client).get()
    now = timezone.now()
    ends_at = credit_forecast.ends_at(account, now=now)
    more = account.credits_left + account.credits_used - account.credits_included
    orders = CreditOrder.objects.for_client(client).select_related("created_by").order_by("-id")
    return {
        "account": account,
        "plan": PLAN_NAMES[Plan(account.plan)],
        "is_unlimited": account.plan == Plan.UNLIMITED,
        "left": _number(account.credits_left),
        "used": _number(account.credits_used),
        "included": _number(account.credits_included),
        "total": account.credits_left + account.credits_used,
        "more": _number(more) if more > 0 else "",
        "ends_at": ends_at,
        "is_trial": account.plan == Plan.TRIAL,
        "outlook": _outlook(ends_at, account, client, now),
        "days_left": None if ends_at is None else (ends_at - now).days,
        "orders": [(order, _number(order.amount)) for order in orders[:_ORDERS_SHOWN]],
    }


def _outlook(ends_at: datetime | None, account: Subscription, client: Client, now: datetime) -> str:
    """How long the credits will last: `unused` or, in a company's first days, `too_early`; `years`
    or, if they outlast the period, `beyond`; else `until` a day."""
    if client.created_at > now - _DAYS_OF_USE:
        return "too_early"
    if ends_at is None:
        return "unused"
    if ends_at >= now + credit_forecast.LONGEST:
        return "years"
    return "beyond" if account.period_end and ends_at >= account.period_end else "until"


def _labels(packs: dict[str, str]) -> list[tuple[Any, str]]:
    text = gettext("{amount} credits · {price}")
    return [
        (amount, text.format(amount=_number(int(amount)), price=price))
        for amount, price in packs.items()
    ]


def _number(amount: int) -> str:
    return number_format(amount, use_l10n=True, force_grouping=True)
