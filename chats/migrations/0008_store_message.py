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
            'DROP FUNCTION chats_count_messages, chats_store_message, chats_may_see',
        ),
    ]
