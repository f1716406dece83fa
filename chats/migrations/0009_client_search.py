"""The search reads the messages of its client alone: the index has the client beside the text."""

import django.contrib.postgres.indexes
import django.db.models.functions.text
from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    BtreeGinExtension,
    RemoveIndexConcurrently,
)
from django.db import migrations, models


class Migration(migrations.Migration):
    # A big table goes on being written meanwhile. Until it is done, the older index is there.
    atomic = False

    dependencies = [('chats', '0008_store_message')]

    operations = [
        BtreeGinExtension(),
        AddIndexConcurrently(
            model_name='message',
            index=django.contrib.postgres.indexes.GinIndex(
                models.F('client'),
                django.contrib.postgres.indexes.OpClass(
                    django.db.models.functions.text.Upper('text'), 'gin_trgm_ops'
                ),
                name='message_client_search',
            ),
        ),
        RemoveIndexConcurrently(model_name='message', name='message_search'),
    ]
