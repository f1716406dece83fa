"""Events, bodies, deliveries and attempts in month partitions (docs/decisions/0025)."""

import django.db.models.deletion
from django.db import migrations, models

# All at once, before anything is changed: whoever writes holds locks on some of these tables and
# waits for others. What cannot be had at once is given back, so that writers go on.
_LOCK = """
DO $$
DECLARE
    parted oid[] := ARRAY['webhooks_event', 'webhooks_payload', 'webhooks_delivery',
        'webhooks_deliveryattempt']::regclass[]::oid[];
    -- Also what foreign keys lead to, and where they come from.
    tables text := (SELECT string_agg(DISTINCT pg_class.oid::regclass::text, ', ') FROM pg_class
        WHERE pg_class.oid = ANY (parted)
            OR EXISTS (SELECT FROM pg_constraint WHERE contype = 'f'
                AND (conrelid = ANY (parted) AND confrelid = pg_class.oid
                    OR confrelid = ANY (parted) AND conrelid = pg_class.oid)));
    before text := current_setting('lock_timeout');
BEGIN
    FOR attempt IN 1..300 LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '150ms', true);
            EXECUTE 'LOCK TABLE ' || tables || ' IN ACCESS EXCLUSIVE MODE';
            PERFORM set_config('lock_timeout', before, true);
            RETURN;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            PERFORM pg_sleep(0.1 + random() / 5);
        END;
    END LOOP;
    RAISE EXCEPTION 'The tables % were in use all the time: migrate again.', tables;
END $$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('chatplatform', '0004_months'),
        ('webhooks', '0003_announce'),
    ]

    operations = [
        migrations.RunSQL(f"SET LOCAL statement_timeout = 0; {_LOCK}", migrations.RunSQL.noop),
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
