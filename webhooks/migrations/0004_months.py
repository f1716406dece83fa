"""Events, bodies, deliveries and attempts in month partitions (docs/decisions/0025)."""

import django.db.models.deletion
from django.db import migrations, models

class Migration(migrations.Migration):

    dependencies = [
        ('chatplatform', '0004_months'),
        ('webhooks', '0003_announce'),
    ]

    operations = [
        # A month of events is dropped without a look at what names them: `_delete`, `_REQUEUE` and
        # the retention keep them together.
        migrations.AlterField(
            model_name='payload',
            name='event',
            field=models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='webhooks.event'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='event',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='webhooks.event'),
        ),
        migrations.AlterField(
            model_name='deliveryattempt',
            name='delivery',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='log', to='webhooks.delivery'),
        ),
        # By the event's id, which begins with its time; attempts by their own time.
        migrations.RunSQL(
            """
            SET LOCAL statement_timeout = 0;
            SELECT chatplatform_part_by_month('webhooks_event', 'id');
            SELECT chatplatform_part_by_month('webhooks_payload', 'event_id');
            SELECT chatplatform_part_by_month('webhooks_delivery', 'event_id');
            SELECT chatplatform_part_by_month('webhooks_deliveryattempt', 'created_at');
            """,
            state_operations=[
                migrations.RemoveConstraint('event', 'event_sequence_in_conversation'),
                migrations.AddIndex('event', models.Index(fields=['conversation_id', 'sequence'], name='event_sequence_in_conversation')),
                migrations.RemoveConstraint('deliveryattempt', 'attempt_once'),
                migrations.AddIndex('deliveryattempt', models.Index(fields=['delivery', 'number'], name='attempt_once')),
            ],
        ),
    ]
