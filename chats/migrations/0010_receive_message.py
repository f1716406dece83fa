from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('chats', '0009_client_search')]

    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix('.sql').read_text(),
            # The release before works with these functions too.
            migrations.RunSQL.noop,
        ),
    ]
