from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('webhooks', '0002_event_subject')]

    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix('.sql').read_text(), 'DROP FUNCTION webhooks_announce'
        ),
    ]
