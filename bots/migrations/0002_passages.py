"""Passages of large bots are found by indexes of the database, if it has pgvector.

A migration of its own: whoever adds pgvector later takes it back and applies it again.
"""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):

    initial = True

    dependencies = [('bots', '0001_initial')]

    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix('.sql').read_text(),
            'DROP TRIGGER IF EXISTS delete_passages ON bots_chunk;'
            ' DROP FUNCTION IF EXISTS bots_delete_passages; DROP TABLE IF EXISTS bots_passage',
        ),
    ]
