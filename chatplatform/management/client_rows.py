"""All rows and files of one client, whatever the app: to hand them over, or to erase them."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import models

from channels_app.models import ChannelConnection, InboundCallback, InboundItem
from identity.models import Client, User


def of_client(client: Client) -> Iterator[tuple[type[models.Model], models.QuerySet[Any]]]:
    """Each model with rows of clients, and those of this client."""
    for model in apps.get_models():
        names = {field.attname for field in model._meta.concrete_fields}
        rows = model._base_manager.all()
        if model is Client:
            continue
        if "client_id" in names:
            yield model, rows.filter(client_id=client.pk)
        elif "user_id" in names:
            yield model, rows.filter(user_id__in=User.objects.filter(client=client).values("pk"))


def callbacks(
    client: Client,
) -> tuple[models.QuerySet[InboundCallback], models.QuerySet[InboundItem]]:
    """What messaging providers sent to the client's accounts; other clients' may be in it."""
    accounts = ChannelConnection.objects.filter(client=client).exclude(account_id="")
    items = InboundItem.objects.filter(account_id__in=accounts.values("account_id"))
    return InboundCallback.objects.filter(pk__in=items.values("callback_id")), items


def file_names(rows: models.QuerySet[Any]) -> Iterator[str]:
    """The stored files that rows of one model name."""
    for field in rows.model._meta.concrete_fields:
        if isinstance(field, models.FileField):
            names = rows.exclude(**{field.name: ""}).values_list(field.name, flat=True)
            yield from names.iterator()
