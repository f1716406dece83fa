"""Finds, edits, blocks and merges customers, for the desk and the client's own server."""

from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from bots.models import Bot
from chatplatform.api.errors import ApiError, first_or_404, unique
from chatplatform.api.schemas import iso
from chats.models import AssignType, Conversation, Customer, LockedConversation, Status
from chats.schemas.people import CustomerDto, CustomersQuery
from chats.services.core import conversations, customers, lifecycle
from identity.auth import Principal
from identity.services import audit

_COLUMNS = ("external_id", "name", "email", "phone", "avatar_url", "blocked_until", "block_reason")


# The end of a block without a time limit.
FOREVER = datetime(9999, 1, 1, tzinfo=UTC)


class ExternalIdTaken(ApiError):
    code, status = "external_id_taken", 409
    detail = gettext_noop(
        "Another customer has this external_id. If they're the same person, merge them."
    )


class SameCustomer(ApiError):
    code, status = "same_customer", 409
    detail = gettext_noop(
        "You can't merge a customer with themselves. Choose two different customers."
    )


def visible(caller: Principal) -> QuerySet[Customer]:
    """The customers that the caller may see: all customers of the client or, for a key of one bot,
    only customers who have a chat with that bot."""
    rows = without_previewers(Customer.objects.for_client(caller.client))
    if caller.key and caller.key.bot_id:
        chats = Conversation.objects.filter(customer=OuterRef("pk"))
        rows = rows.filter(Exists(chats.filter(bot_id=caller.key.bot_id)))
    return rows


def without_previewers(rows: QuerySet[Customer]) -> QuerySet[Customer]:
    """The customers except those that only represent the client's users in previews."""
    chats = Conversation.objects.filter(customer=OuterRef("pk"), is_preview=False)
    return rows.exclude(Q(external_id__startswith=customers.PREVIEWER_PREFIX) & ~Exists(chats))


def list_(caller: Principal, query: CustomersQuery) -> QuerySet[Customer]:
    """The customers that the caller may see and that match the query, unordered."""
    rows = visible(caller)
    if query.external_id is not None:
        rows = rows.filter(external_id=query.external_id)
    if query.q is not None:
        rows = rows.filter(pk__in=customers.search(caller.client, query.q).values("pk"))
    return rows


def get(caller: Principal, customer_id: int) -> Customer:
    """A customer that the caller may see; 404 for any other customer, including one that was merged
    into another."""
    return first_or_404(visible(caller).filter(pk=customer_id))


def edit(caller: Principal, customer_id: int, body: CustomerDto) -> Customer:
    """Change the given fields; null clears a field, and attributes are merged. A block ends the
    customer's conversations that are in the queue or with an agent. 422 if a value does not fit a
    customer-info field of a bot with which the customer has a conversation, 409 if another customer
    has the external id."""
    is_block = body.blocked_until is not None and body.blocked_until > timezone.now()
    with transaction.atomic():
        # Chats are locked before customers everywhere.
        with_team = _lock_with_team(get(caller, customer_id)) if is_block else []
        rows = visible(caller).select_for_update(no_key=True, of=("self",))
        customer = first_or_404(rows.filter(pk=customer_id))
        chats = Conversation.objects.filter(bot=OuterRef("pk"), customer=customer)
        for bot in Bot.objects.for_client(caller.client).filter(Exists(chats)).order_by("pk"):
            customers.check_update(bot, body)
        before = {name: getattr(customer, name) for name in (*_COLUMNS, "attributes")}
        for name in body.model_fields_set.intersection(_COLUMNS):
            empty = None if Customer._meta.get_field(name).null else ""
            setattr(customer, name, getattr(body, name) or empty)
        if customer.blocked_until:
            customer.blocked_until = min(customer.blocked_until, FOREVER)
        else:
            customer.block_reason = None
        customer.attributes = customers.merged_attributes(customer.attributes, body.attributes)
        changed = [name for name, value in before.items() if getattr(customer, name) != value]
        if changed:
            names = [*changed, *(f"attributes.{name}" for name in body.attributes)]
            customer.self_reported_fields = customers.updated_self_reported(
                customer, names, by_public_key=False
            )
            with unique("customer_external_id", ExternalIdTaken):
                customer.save(update_fields=[*changed, "self_reported_fields"])
            _record(caller, customer, changed)
            customers.announce_update(customer)
        for chat in with_team:
            chat.customer = customer
            lifecycle.end(chat, by="agent" if caller.user else "api", agent=caller.user)
    return customer


def _lock_with_team(customer: Customer) -> list[LockedConversation]:
    """Lock the customer's conversations that are in the queue or with an agent; return them."""
    rows = Conversation.objects.filter(customer=customer).exclude(status=Status.ENDED)
    of_team = rows.exclude(assign_type=AssignType.BOT).order_by("pk")
    locked = [conversations.lock(chat) for chat in of_team]
    return [
        chat
        for chat in locked
        if chat.status != Status.ENDED and chat.assign_type != AssignType.BOT
    ]


def _record(caller: Principal, customer: Customer, changed: list[str]) -> None:
    by, subject = caller.user or caller.key, f"customer:{customer.pk}"
    if "blocked_until" in changed:
        action = "blocked" if customer.is_blocked else "unblocked"
        until = {"until": iso(customer.blocked_until)} if customer.blocked_until else {}
        audit.record(
            caller.client_id, f"customer.{action}", by=by, subject=subject, changes=until
        )  # fmt: skip
        changed = [name for name in changed if name not in {"blocked_until", "block_reason"}]
    if changed:
        fields = {"fields": changed}
        audit.record(caller.client_id, "customer.updated", by=by, subject=subject, changes=fields)


def merge(caller: Principal, customer_id: int, *, merged_id: int) -> Customer:
    """Merge the customer `merged_id` into `customer_id` (see `customers.merge`). 404 if the caller
    may not see one of the two, 409 if both ids are the same."""
    get(caller, customer_id)
    get(caller, merged_id)
    if merged_id == customer_id:
        raise SameCustomer
    return customers.merge(customer_id, merged_id, by=caller.user or caller.key)
