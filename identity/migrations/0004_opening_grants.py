"""A ledger begins with what there is: the entries of a client sum to its balance from here on."""

from django.db import migrations
from django.db.models import F, Sum
from django.db.models.functions import Greatest


def open_ledgers(apps, schema_editor):
    subscriptions = apps.get_model("identity", "Subscription").objects
    entries = apps.get_model("identity", "CreditEntry").objects
    for account in subscriptions.order_by("pk").iterator():
        written = entries.filter(client_id=account.client_id).aggregate(all=Sum("amount"))["all"]
        missing = account.credits_left - (written or 0)
        if missing:
            entries.create(
                client_id=account.client_id,
                kind="grant",
                amount=missing,
                balance_after=account.credits_left,
                reference="opening",
            )
    subscriptions.update(credits_used=Greatest(F("credits_included") - F("credits_left"), 0))


class Migration(migrations.Migration):
    dependencies = [("identity", "0003_billing")]
    operations = [migrations.RunPython(open_ledgers, migrations.RunPython.noop)]
