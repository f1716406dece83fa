"""Passages of large bots are found by indexes of the database, where it has pgvector."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('bots', '0004_training_stages')]

    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix('.sql').read_text(),
            'DROP TRIGGER IF EXISTS forget_passages ON bots_chunk;'
            ' DROP FUNCTION IF EXISTS bots_forget_passages; DROP TABLE IF EXISTS bots_passage',
        ),
    ]
