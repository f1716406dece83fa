from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('chats', '0001_initial')]

    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix('.sql').read_text(), migrations.RunSQL.noop
        ),
    ]
