"""Ended jobs are found by the time of their end, and vacuumed while they are few."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # A big table goes on being written meanwhile.
    atomic = False

    dependencies = [('chatplatform', '0004_months')]

    operations = [
        AddIndexConcurrently(
            model_name='job',
            index=models.Index(condition=models.Q(('state__in', ['done', 'cancelled'])), fields=['finished_at'], name='job_ended'),
        ),
        # A job is written four times and deleted: at the default of a fifth, millions of dead rows.
        migrations.RunSQL(
            'ALTER TABLE chatplatform_job SET (autovacuum_vacuum_scale_factor = 0.01,'
            ' autovacuum_analyze_scale_factor = 0.01)',
            'ALTER TABLE chatplatform_job RESET (autovacuum_vacuum_scale_factor,'
            ' autovacuum_analyze_scale_factor)',
        ),
    ]
