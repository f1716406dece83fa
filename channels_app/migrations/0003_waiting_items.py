from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # A big table goes on being written meanwhile.
    atomic = False

    dependencies = [
        ('channels_app', '0002_failing_since'),
    ]

    operations = [
        migrations.AddField(
            model_name='inbounditem',
            name='attempts',
            field=models.PositiveSmallIntegerField(db_default=0),
        ),
        migrations.AddField(
            model_name='inbounditem',
            name='connection_id',
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name='inbounditem',
            name='customer_key',
            field=models.CharField(blank=True, db_default='', max_length=80),
        ),
        migrations.AddField(
            model_name='inbounditem',
            name='error',
            field=models.CharField(blank=True, db_default='', max_length=500),
        ),
        migrations.AddField(
            model_name='inbounditem',
            name='is_aside',
            field=models.BooleanField(db_default=False),
        ),
        migrations.AddField(
            model_name='inbounditem',
            name='is_batched',
            field=models.BooleanField(db_default=False),
        ),
        migrations.AddField(
            model_name='inbounditem',
            name='is_in_hand',
            field=models.BooleanField(db_default=False),
        ),
        migrations.AlterField(
            model_name='inbounditem',
            name='outcome',
            field=models.CharField(
                choices=[
                    ('waiting', 'Waiting'),
                    ('processed', 'Processed'),
                    ('duplicate', 'Duplicate'),
                    ('unsupported', 'Unsupported'),
                    ('unknown_account', 'Unknown Account'),
                ],
                max_length=15,
            ),
        ),
        AddIndexConcurrently(
            model_name='inbounditem',
            index=models.Index(
                condition=models.Q(('outcome', 'waiting')),
                fields=['customer_key', 'id'],
                name='inbound_waits_of_customer',
            ),
        ),
        AddIndexConcurrently(
            model_name='inbounditem',
            index=models.Index(
                condition=models.Q(('outcome', 'waiting')),
                fields=['connection_id', 'id'],
                name='inbound_waits_of_account',
            ),
        ),
    ]
