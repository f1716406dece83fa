from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('chats', '0007_replays'),
        ('chatplatform', '0003_dead_jobs'),
        ('webhooks', '0003_announce'),
    ]

    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix('.sql').read_text(),
            'DROP FUNCTION IF EXISTS chats_waits_for_first_word;'
            'DROP FUNCTION IF EXISTS chats_receive_message(uuid, bigint, bigint, bigint, bigint,'
            ' uuid, uuid, text, text, text[], text, boolean, text, text);'
            # Of the releases before 0010.
            'DROP FUNCTION IF EXISTS chats_receive_message(uuid, bigint, bigint, bigint, bigint,'
            ' uuid, uuid, text, text, text[], text, boolean, text);'
            'DROP FUNCTION chats_count_imported, chats_count_message, chats_may_see',
        ),
    ]
