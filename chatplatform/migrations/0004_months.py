"""Functions that make, drop and fill month partitions; tables are parted by their own apps."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('chatplatform', '0003_dead_jobs')]

    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix('.sql').read_text(),
            'DROP FUNCTION chatplatform_part_by_month, chatplatform_analyze,'
            ' chatplatform_drop_month, chatplatform_make_month, chatplatform_first_key',
        ),
    ]
