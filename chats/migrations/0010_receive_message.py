from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('chats', '0009_client_search')]

    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix('.sql').read_text(),
            'DROP FUNCTION chats_receive_message, chats_bot_may_reply',
        ),
    ]
