from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('chats', '0004_customer_erasure')]

    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix('.sql').read_text(),
            'DROP VIEW chats_shown_message; DROP FUNCTION chats_moment',
        ),
    ]
