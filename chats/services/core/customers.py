"""Finds, creates, updates and merges customers."""

import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from bots.models import Bot
from bots.services import customer_info_fields
from chatplatform.api.errors import ApiError, Invalid, NotFound
from chatplatform.api.schemas import MAX_FREE_BYTES, MAX_ID
from chatplatform.json_encoding import as_json
from chats.models import Conversation, Customer, LockedConversation, OptOut
from chats.schemas.people import CustomerDto, CustomerInfo
from identity.auth import Principal
from identity.models import ApiKey, Client, User
from identity.services import audit, time_zones
from webhooks.services import announce

log = logging.getLogger(__name__)


class CustomerBlocked(ApiError):
    code, status = "customer_blocked", 403
    detail = "This customer is blocked and can't send messages."


MAX_ATTRIBUTES = 200
# Prefix of the external ids of users who try a bot in the role of a customer.
PREVIEWER_PREFIX = "staff:"
_FIELDS = ("name", "email", "phone", "avatar_url")
# Values of customer-info fields with these names are stored in the customer's columns.
_ANSWER_COLUMNS = ("name", "email", "phone")
_SEARCHED = ("name", "email", "phone", "external_id")
# Matches search texts that the trigram index can find: those with three letters or digits in a row.
INDEXED = re.compile(r"[^\W_]{3}")


def previewer_id(user: User) -> str:
    """The external id of the customer that represents the user in the user's previews."""
    return f"{PREVIEWER_PREFIX}{user.pk}"


def search(client: Client, q: str) -> QuerySet[Customer]:
    """Customers with a field that contains `q` or, if the index cannot find `q`, begins with it."""
    part = "icontains" if INDEXED.search(q) else "istartswith"
    like = Q()
    for column in _SEARCHED:
        like |= Q(**{f"{column}__{part}": q.strip()})
    return Customer.objects.for_client(client).filter(like)


def ensure_not_blocked(customer: Customer) -> None:
    """Raise 403 `customer_blocked` while the customer is blocked."""
    if customer.is_blocked:
        raise CustomerBlocked


def ensure_may_write(customer: Customer, *, sender_id: str | None) -> None:
    """Raise 403 `customer_blocked` if the chat's customer is blocked, or if the customer whose
    external id or id is `sender_id` is blocked."""
    ensure_not_blocked(customer)
    if sender_id in {None, str(customer.pk), customer.external_id}:
        return
    rows = Customer.objects.filter(client_id=customer.client_id)
    sender = rows.filter(external_id=sender_id).first()
    if sender is None and sender_id.isdecimal() and int(sender_id) <= MAX_ID:
        sender = rows.filter(pk=int(sender_id)).first()
    if sender:
        ensure_not_blocked(sender)


def update_or_create_for_chat(bot: Bot, info: CustomerInfo, *, by: Principal) -> Customer:
    """The customer of a chat that a visitor or the client's server opens, created if needed. If a
    customer-info field that the bot requires before a chat is missing or invalid, nothing is
    changed and 422 is raised."""
    with transaction.atomic():
        customer = (
            update_or_create_for_visitor(by, info)
            if by.is_public_key
            else update_or_create(bot.client, info)
        )
        _check_answers(bot, info, known=answers(customer))
    return customer


def update_or_create_for_visitor(caller: Principal, info: CustomerInfo) -> Customer:
    """The visitor's customer, updated with what the visitor entered; created if needed."""
    rows = Customer.objects.for_client(caller.client)
    known = rows.filter(pk=caller.visitor_id).first() if caller.visitor_id else None
    if known:
        return identify(known.pk, info, by_public_key=True)
    return update_or_create(caller.client, info, by_public_key=True)


def check_update(bot: Bot, info: CustomerInfo, *location: str) -> None:
    """Raise 422 if a value does not fit the bot's customer-info fields. `location` is the path of
    `info` in the request's body."""
    _check_answers(bot, info, at=("body", *location, "attributes"))


def _check_answers(bot: Bot, info: CustomerInfo, **options: Any) -> None:
    country = time_zones.country_of(bot.client.timezone)
    customer_info_fields.check(bot.customer_info_fields, answers(info), country=country, **options)


def answers(known: Customer | CustomerInfo) -> dict[str, Any]:
    """The known values of customer-info fields, by the fields' names."""
    columns = {name: getattr(known, name) for name in _ANSWER_COLUMNS if getattr(known, name)}
    return columns | known.attributes


def update_or_create(
    client: Client, info: CustomerInfo, *, by_public_key: bool = False
) -> Customer:
    """Create a customer, or update the existing one with this external id."""
    self_reported = _names(info) if by_public_key else []
    given: dict[str, Any] = {
        "attributes": info.attributes,
        "self_reported_fields": self_reported,
        **_fields(info),
    }
    if not info.external_id:
        return Customer.objects.create(client=client, **given)
    while True:
        try:
            with transaction.atomic():
                return Customer.objects.create(client=client, external_id=info.external_id, **given)
        except IntegrityError:
            # Another request may just have created this customer. If it has already been merged
            # into another customer, no row has this external id any more: try again.
            with suppress(Customer.DoesNotExist):
                existing = Customer.objects.for_client(client).get(external_id=info.external_id)
                return update(existing.pk, info, by_public_key=by_public_key)


def update(
    customer_id: int, info: CustomerInfo, *, has_new_id: bool = False, by_public_key: bool = False
) -> Customer:
    """Overwrite the given fields and merge the attributes; null removes an attribute. A public key
    can set empty fields, but overwrite only those in `Customer.self_reported_fields`, which
    visitors wrote; it gets 403 if the customer is blocked."""
    customer = _lock(customer_id)
    if by_public_key:
        ensure_not_blocked(customer)
        info = _overwritable(customer, info)
    attributes = merged_attributes(customer.attributes, info.attributes)
    self_reported = updated_self_reported(customer, _names(info), by_public_key=by_public_key)
    changes = {**_fields(info), "attributes": attributes, "self_reported_fields": self_reported}
    return _change(customer, changes, must_announce=has_new_id)


def updated_self_reported(
    customer: Customer, names: Sequence[str], *, by_public_key: bool
) -> list[str]:
    """The value of `Customer.self_reported_fields` after the fields `names` were written by a
    visitor (`by_public_key`) or by somebody else."""
    unchanged = [name for name in customer.self_reported_fields if name not in names]
    return [*unchanged, *names] if by_public_key else unchanged


def _overwritable(customer: Customer, info: CustomerInfo) -> CustomerInfo:
    """`info` without the fields that a visitor may not overwrite, because somebody else wrote
    them."""
    protected = {
        name
        for name in _FIELDS
        if getattr(customer, name) and name not in customer.self_reported_fields
    }
    attributes = {
        name: value
        for name, value in info.attributes.items()
        if name not in customer.attributes or f"attributes.{name}" in customer.self_reported_fields
    }
    return info.model_copy(update={**dict.fromkeys(protected), "attributes": attributes})


def _names(info: CustomerInfo) -> list[str]:
    """The given columns and attributes, named as in `Customer.self_reported_fields`."""
    return [*_fields(info), *(f"attributes.{name}" for name in info.attributes)]


def fill_in(chat: LockedConversation, given: Mapping[str, Any]) -> list[str]:
    """Store the values of customer-info fields that the customer told the bot, and return the names
    of the stored fields; known values are kept. In a preview nothing is stored, and all names are
    returned."""
    if chat.is_preview or not given:
        return list(given)
    customer = _lock(chat.customer_id)
    known = answers(customer)
    new = {name: value for name, value in given.items() if known.get(name) in (None, "")}
    limits = {column.name: column.max_length or 0 for column in Customer._meta.fields}
    columns = {
        name: value
        for name, value in new.items()
        if name in _ANSWER_COLUMNS and isinstance(value, str) and len(value) <= limits[name]
    }
    others = {name: value for name, value in new.items() if name not in columns}
    try:
        changes = {"attributes": merged_attributes(customer.attributes, others), **columns}
    except Invalid:
        log.warning("customer %s has no room for %s", customer.pk, ", ".join(others))
        return []
    if new:
        names = [*columns, *(f"attributes.{name}" for name in others)]
        self_reported = updated_self_reported(customer, names, by_public_key=True)
        _change(customer, {**changes, "self_reported_fields": self_reported})
        chat.customer = customer
    return list(new)


def identify(customer_id: int, info: CustomerInfo, *, by_public_key: bool = False) -> Customer:
    """Update and return the customer whom `info` describes. This is the given customer, unless it
    has a different external id, or another customer has the id in `info`. In these cases, it is the
    customer with the id in `info`, created if needed."""
    customer = _lock(customer_id)
    is_new_id = info.external_id not in {None, customer.external_id}
    is_another = is_new_id and customer.external_id is not None
    if by_public_key and not is_another:
        ensure_not_blocked(customer)
    if is_another or (is_new_id and not _set_external_id(customer, info.external_id)):
        return update_or_create(customer.client, info, by_public_key=by_public_key)
    return update(customer_id, info, has_new_id=is_new_id, by_public_key=by_public_key)


def merge(customer_id: int, merged_id: int, *, by: User | ApiKey | None) -> Customer:
    """Merge the customer `merged_id` into `customer_id`: chats, identities and attributes move, and
    the row `merged_id` is deleted. If both have a value, that of `customer_id` is kept, except that
    the longer block and the wider opt-out apply. `by` is None if a provider reports that they are
    the same person. 404 if either row no longer exists."""
    with transaction.atomic():
        # Chats are locked before customers everywhere. While the customers are locked, no new row
        # can reference either of them.
        chats = Conversation.objects.filter(customer_id=merged_id).order_by("pk")
        list(chats.select_for_update(no_key=True).values_list("pk"))
        rows = Customer.objects.select_for_update().filter(pk__in=[customer_id, merged_id])
        locked = {row.pk: row for row in rows.order_by("pk")}
        if len(locked) < 2:
            raise NotFound  # merged or erased by another request
        remaining, merged = locked[customer_id], locked[merged_id]
        for relation in Customer._meta.related_objects:
            pointing = relation.related_model._base_manager.filter(**{relation.field.name: merged})
            pointing.update(**{relation.field.name: remaining})
        merged.delete()
        for name in ("external_id", *_FIELDS, "import_source_id"):
            setattr(remaining, name, getattr(remaining, name) or getattr(merged, name))
        blocked = [row for row in (remaining, merged) if row.blocked_until]
        longest = max(blocked, key=attrgetter("blocked_until"), default=remaining)
        remaining.blocked_until, remaining.block_reason = (
            longest.blocked_until,
            longest.block_reason,
        )
        opt_outs = {remaining.opt_out, merged.opt_out}
        remaining.opt_out = next(row for row in reversed(OptOut) if row in opt_outs)
        remaining.attributes = merged_attributes(merged.attributes, remaining.attributes)
        remaining.save()
        audit.record(
            remaining.client_id, "customer.merged", by=by, subject=f"customer:{remaining.pk}",
            changes={"merged_id": merged_id},
        )  # fmt: skip
        data = {"customer": CustomerDto.from_row(remaining).model_dump(mode="json")}
        announce(remaining.client_id, "customer.merged", {**data, "merged_id": merged_id})
    return remaining


def set_opt_out(customer_id: int, opt_out: OptOut) -> None:
    """Store which messages a customer no longer wants; announce the customer if this changed."""
    with transaction.atomic():
        _change(_lock(customer_id), {"opt_out": opt_out})


def merged_attributes(known: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The known attributes, updated with the new ones; null removes an attribute. 422 if the result
    exceeds a limit."""
    attributes = {name: value for name, value in {**known, **new}.items() if value is not None}
    if len(attributes) > MAX_ATTRIBUTES:
        raise Invalid.field("body", "attributes", msg=f"At most {MAX_ATTRIBUTES} in all.")
    if len(as_json(attributes)) > MAX_FREE_BYTES:
        raise Invalid.field("body", "attributes", msg=f"At most {MAX_FREE_BYTES:,} bytes in all.")
    return attributes


def announce_update(customer: Customer) -> None:
    """Announce a changed customer, unless it represents a user who tries a bot."""
    if (customer.external_id or "").startswith(PREVIEWER_PREFIX):
        return
    data = {"customer": CustomerDto.from_row(customer).model_dump(mode="json")}
    announce(customer.client_id, "customer.updated", data)


def _change(
    customer: Customer, changes: Mapping[str, Any], *, must_announce: bool = False
) -> Customer:
    """Write the columns that differ. The customer is announced if a column other than
    `self_reported_fields` differs, or if `must_announce` is set."""
    changed = [name for name, value in changes.items() if getattr(customer, name) != value]
    for name in changed:
        setattr(customer, name, changes[name])
    if changed:
        customer.save(update_fields=changed)
    if must_announce or set(changed) - {"self_reported_fields"}:
        announce_update(customer)
    return customer


def _lock(customer_id: int) -> Customer:
    rows = Customer.objects.select_for_update(no_key=True, of=("self",)).select_related("client")
    customer: Customer = rows.get(pk=customer_id)
    return customer


def _set_external_id(customer: Customer, external_id: str | None) -> bool:
    """Give the customer this external id; False if another customer has it."""
    try:
        with transaction.atomic():
            Customer.objects.filter(pk=customer.pk).update(external_id=external_id)
    except IntegrityError:
        return False
    return True


def _fields(info: CustomerInfo) -> dict[str, str]:
    return {name: getattr(info, name) for name in _FIELDS if getattr(info, name)}
