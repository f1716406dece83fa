"""An index of the questions without an answer; a big table takes writes meanwhile."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("chats", "0001_initial")]

    operations = [
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                condition=models.Q(
                    receipt__decision__in=(
                        "below_gate",
                        "nothing_to_quote",
                        "no_answer",
                        "model_refused",
                    )
                ),
                fields=["client", "-id"],
                name="message_unanswered",
            ),
        ),
    ]
