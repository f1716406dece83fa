"""Orders for credits. Clients create them, and platform staff or a payment provider close them."""

import uuid
from collections.abc import Mapping
from typing import ClassVar

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop

from chatplatform.api.errors import ApiError, Forbidden, NotConfigured, first_or_404, not_found_in
from chatplatform.signatures import is_signed
from identity.models import Client, CreditOrder, OrderStatus, User
from identity.schemas.clients import CreditPayment
from identity.services import audit, credits
from identity.services.move_freeze import ensure_not_frozen


class OrderClosed(ApiError):
    """The order was already closed with the other status."""

    code, status = "order_closed", 409
    more: ClassVar = {"order_status": (str, "How the order ended: `paid` or `refused`.")}
    detail = gettext_noop("This order has already been paid or rejected.")


class PaymentDiffers(ApiError):
    code, status = "payment_differs", 409
    detail = "This order has another amount or reference: nothing was added."


class PaymentsNotConfigured(NotConfigured):
    """Without a secret, no request from a payment provider can be verified."""

    code = "payments_not_configured"
    detail = "No payment provider is set up: set PAYMENT_WEBHOOK_SECRET on the server."


class WrongSignature(Forbidden):
    code = "wrong_signature"
    detail = "The signature is missing, wrong or more than five minutes old."


def create(client: Client, *, amount: int, reference: str, by: User | None) -> CreditOrder:
    """Order credits. If the client already has an order with this reference, return that order; 409
    if its amount differs."""
    with transaction.atomic():
        order, is_new = CreditOrder.objects.get_or_create(
            client=client, reference=reference, defaults={"amount": amount, "created_by": by}
        )
        if order.amount != amount:
            raise credits.ReferenceTaken(amount=order.amount)
        if is_new:
            _audit(order, "credit_order.created", by=by)
            order.refresh_from_db(fields=["created_at"])
    return order


def get(client: Client, order_id: uuid.UUID) -> CreditOrder:
    """The client's order with this id; 404 if it has none."""
    return first_or_404(CreditOrder.objects.for_client(client).filter(pk=order_id))


def pay(order: CreditOrder, *, by: User | None) -> None:
    """Add the credits of a pending order to the balance. Does nothing if the order was paid
    already; 409 if it was refused."""
    with transaction.atomic():
        if _close(order, OrderStatus.PAID):
            credits.top_up(order.client_id, amount=order.amount, reference=order.reference, by=by)


def refuse(order: CreditOrder, *, by: User | None) -> None:
    """Close a pending order without adding its credits. Does nothing if the order was refused
    already; 409 if it was paid."""
    with transaction.atomic():
        if _close(order, OrderStatus.REFUSED):
            _audit(order, "credit_order.refused", by=by)


def receive_payment(body: CreditPayment, *, raw: bytes, headers: Mapping[str, str]) -> None:
    """Mark the order in a payment provider's signed request as paid or refused. 403 if the
    signature is wrong, 404 if the order is unknown, 409 if its amount, reference or final status
    differs."""
    if not settings.PAYMENT_WEBHOOK_SECRET:
        raise PaymentsNotConfigured(setting="PAYMENT_WEBHOOK_SECRET")
    if not is_signed(settings.PAYMENT_WEBHOOK_SECRET, headers=headers, body=raw):
        raise WrongSignature
    with not_found_in("order_id"):
        order = first_or_404(CreditOrder.objects.filter(pk=body.order_id))
    if (order.amount, order.reference) != (body.amount, body.reference):
        raise PaymentDiffers
    ensure_not_frozen(order.client)
    close = {"paid": pay, "refused": refuse}[body.status]
    close(order, by=None)


def _close(order: CreditOrder, status: OrderStatus) -> bool:
    """Close a pending order. False if it already has this status, 409 if it has the other."""
    pending = CreditOrder.objects.filter(pk=order.pk, status=OrderStatus.PENDING)
    is_closed = bool(pending.update(status=status))
    order.refresh_from_db(fields=["status"])
    if order.status != status:
        raise OrderClosed(order_status=order.status)
    return is_closed


def _audit(order: CreditOrder, action: str, *, by: User | None) -> None:
    changes = {"amount": order.amount, "reference": order.reference}
    subject = f"credit_order:{order.pk}"
    audit.record(order.client_id, action, by=by, subject=subject, changes=changes)
