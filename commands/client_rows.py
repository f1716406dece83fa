"""All rows and files of one client, in all apps: to export, move or erase them.

The models show which tables hold rows of clients, so that no new table is forgotten. A test checks
that every other table is named here, with the reason.
"""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.db import models
from django.db.models.fields.json import KT
from django.db.models.functions import Lower

from channels_app.models import LIVE, ChannelConnection, InboundCallback, InboundItem
from chatplatform.models import Job, JobState
from identity.models import Client, User

Rows = models.QuerySet[Any]

INSTALLATION_MODELS = {
    "auth.Permission": "the site's rights follow from roles",
    "auth.Group": "the site's rights follow from roles",
    "contenttypes.ContentType": "names of models",
    "identity.User_groups": "the site's rights follow from roles",
    "identity.User_user_permissions": "the site's rights follow from roles",
    "auth.Group_permissions": "the site's rights follow from roles",
    "identity.Registration": "the company is not there before it is confirmed",
    "chatplatform.EncryptionKey": "the keys of this installation",
    "identity.Attempt": "hashes of accounts and addresses, for some minutes",
}
# Rows that stay behind when a client moves to another cell.
EXCLUDED_MODELS = {
    "admin.LogEntry": "the site writes the audit log instead",
    "chatplatform.FairShare": "whose turn it is in the queues of the old cell",
    "chatplatform.IdempotentResponse": "its key is a hash over ids that are given anew",
    "identity.AuditLink": "the chain is made anew over the new ids; see the row `client.imported`",
    "identity.RefreshToken": "people sign in again",
    "identity.SiteSession": "people sign in again",
    "identity.Impersonation": "ends with its session",
    "identity.PasswordReset": "its link names the old cell, and works for an hour",
    "channels_app.OAuthAuthorization": "people return from the provider within an hour, or never",
    "webhooks.UnnumberedEvent": "`freeze_client` gives every event its place in the feed",
    "reports.ChatStats": "counted anew from the messages",
}


def client_by_code(code: str) -> Client:
    """The client that a command names."""
    client = Client.objects.filter(code=code).first()
    if client is None:
        raise CommandError(f"There is no client with the code {code!r}.")
    return client


def of_client(client: Client) -> Iterator[tuple[type[models.Model], Rows]]:
    """Each model with rows of clients, and this client's rows. Rows found through others first."""
    found = [
        (_steps(model), model, rows)
        for model in apps.get_models()
        if (rows := _rows(model, client)) is not None
    ]
    for _, model, rows in sorted(found, key=lambda item: item[0]):
        yield model, rows


def whole(client: Client) -> Iterator[tuple[type[models.Model], Rows]]:
    """The client itself, then each model with its rows of this client."""
    yield Client, Client.objects.filter(pk=client.pk)
    yield from of_client(client)


def carried(client: Client) -> Iterator[tuple[type[models.Model], Rows]]:
    """Each model whose rows move with a client to another cell, and these rows."""
    yield Client, Client.objects.filter(pk=client.pk)
    for model, rows in of_client(client):
        if model._meta.label == "chatplatform.Job":
            finished = [JobState.DONE, JobState.CANCELLED]
            yield model, rows.exclude(state__in=finished)
        elif model._meta.label not in EXCLUDED_MODELS:
            yield model, rows
    yield from zip((InboundCallback, InboundItem), callbacks(client), strict=True)


def _rows(model: type[models.Model], client: Client) -> Rows | None:
    """The client's rows of a model; None if it has no rows of clients."""
    fields, rows = model._meta.concrete_fields, model._base_manager.all()
    if model is Client or not model._meta.managed:
        return None
    names = {field.attname for field in fields}
    if "client_id" in names:
        return rows.filter(client_id=client.pk)
    if "user_id" in names:
        return rows.filter(user_id__in=User.objects.filter(client=client).values("pk"))
    for field in fields:
        above: Any = field.related_model
        if above and "client_id" in {item.attname for item in above._meta.concrete_fields}:
            own = above._base_manager.filter(client_id=client.pk)
            return rows.filter(**{f"{field.attname}__in": own.values("pk")})
    return None


def _steps(model: type[models.Model]) -> int:
    """The sort key: people come last, since other rows are found through them."""
    names = {field.attname for field in model._meta.concrete_fields}
    return 2 if model is User else int("client_id" in names)


def jobs_without_client(client: Client) -> models.QuerySet[Job]:
    """Jobs that were enqueued before their client was known, but belong to this one.

    Their arguments name the address of one of its people.
    """
    people = User.objects.filter(client=client)
    rows = Job.objects.filter(client_id=None).alias(address=Lower(KT("args__email")))
    return rows.filter(address__in=people.values(lower=Lower("email")))


def _accounts(client: Client) -> models.QuerySet[ChannelConnection]:
    """The client's accounts at messaging providers, except those that are now another client's."""
    elsewhere = ChannelConnection.objects.exclude(client=client).filter(
        status__in=LIVE,
        channel=models.OuterRef("channel"),
        account_id=models.OuterRef("account_id"),
    )
    own = ChannelConnection.objects.filter(client=client).exclude(account_id="")
    return own.exclude(models.Exists(elsewhere))


def callbacks(
    client: Client,
) -> tuple[models.QuerySet[InboundCallback], models.QuerySet[InboundItem]]:
    """Callbacks to the client's accounts, and its items in them.

    A callback may also hold items of other clients.
    """
    own = ChannelConnection.objects.filter(client=client).values("pk")
    of_account = models.Q(account_id__in=_accounts(client).values("account_id"))
    items = InboundItem.objects.filter(
        models.Q(connection_id__in=own) | models.Q(connection_id=None) & of_account
    )
    return InboundCallback.objects.filter(pk__in=items.values("callback_id")), items


def file_names(rows: Rows) -> Iterator[str]:
    """The names of the stored files of rows of one model."""
    for field in rows.model._meta.concrete_fields:
        if isinstance(field, models.FileField):
            names = rows.exclude(**{field.name: ""}).values_list(field.name, flat=True)
            yield from names.iterator()
