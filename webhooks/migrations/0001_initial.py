from pathlib import Path

import chatplatform.crypto
import chatplatform.ids
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


def _sql(subject: str) -> str:
    return Path(__file__).with_name(f'0001_{subject}.sql').read_text()


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('chatplatform', '0001_initial'),
        ('identity', '0001_initial'),
    ]

    operations = [
        # Events draw their numbers from the first as they are announced, later their places from the
        # second.
        migrations.RunSQL(
            'CREATE SEQUENCE webhooks_event_number CACHE 1', 'DROP SEQUENCE webhooks_event_number'
        ),
        migrations.RunSQL(
            'CREATE SEQUENCE webhooks_feed_position CACHE 1', 'DROP SEQUENCE webhooks_feed_position'
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('type', models.CharField(max_length=60)),
                ('conversation_id', models.UUIDField(null=True)),
                ('sequence', models.PositiveIntegerField(null=True)),
                ('data', models.JSONField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
            ],
        ),
        migrations.CreateModel(
            name='Payload',
            fields=[
                ('event', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='webhooks.event')),
                ('body', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='UnnumberedEvent',
            fields=[
                ('event_id', models.UUIDField(primary_key=True, serialize=False)),
                ('number', models.BigIntegerField(db_default=models.Func(models.Value('webhooks_event_number'), function='nextval'))),
                ('client', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='identity.client')),
            ],
        ),
        migrations.CreateModel(
            name='WebhookConfig',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('url', models.CharField(max_length=2000)),
                ('event_types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), default=list, size=None)),
                ('description', models.CharField(blank=True, default='', max_length=200)),
                ('is_active', models.BooleanField(default=True, verbose_name='active')),
                ('disabled_reason', models.CharField(choices=[('by_hand', 'By Hand'), ('gone', 'Gone'), ('failing', 'Failing')], max_length=10, null=True)),
                ('disabled_at', models.DateTimeField(null=True)),
                ('secret', chatplatform.crypto.EncryptedTextField(editable=False)),
                ('previous_secret', chatplatform.crypto.EncryptedTextField(default='', editable=False)),
                ('previous_secret_until', models.DateTimeField(null=True)),
                ('consecutive_failures', models.PositiveIntegerField(db_default=0)),
                ('failing_since', models.DateTimeField(null=True)),
                ('warned_at', models.DateTimeField(null=True)),
                ('paused_until', models.DateTimeField(null=True)),
                ('deleted_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
            ],
            options={
                'verbose_name': 'endpoint',
                'verbose_name_plural': 'endpoints',
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('failed', 'Failed'), ('succeeded', 'Succeeded'), ('gave_up', 'Gave Up')], db_default='pending', max_length=10)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), null=True)),
                ('attempts', models.PositiveSmallIntegerField(db_default=0)),
                ('attempts_before_replay', models.PositiveSmallIntegerField(db_default=0)),
                ('is_test', models.BooleanField(db_default=False, verbose_name='test')),
                ('lease_token', models.UUIDField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='identity.client')),
                ('event', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='webhooks.event')),
                ('config', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='webhooks.webhookconfig')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
            },
        ),
        migrations.CreateModel(
            name='DeliveryAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('http_status', models.PositiveSmallIntegerField(null=True)),
                ('duration_ms', models.PositiveIntegerField(null=True)),
                ('error', models.CharField(max_length=30, null=True)),
                ('response_excerpt', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='identity.client')),
                ('delivery', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='log', to='webhooks.delivery')),
            ],
            options={
                'indexes': [models.Index(fields=['delivery', 'number'], name='delivery_attempt_number')],
            },
        ),
        migrations.CreateModel(
            name='FeedEntry',
            fields=[
                ('event', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='feed_entry', serialize=False, to='webhooks.event')),
                ('position', models.BigIntegerField()),
                ('client', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='identity.client')),
            ],
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['conversation_id', 'sequence'], name='event_sequence_in_conversation'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='event_created'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(models.Func('data', output_field=models.TextField(), template="COALESCE(%(expressions)s #>> '{document,id}', %(expressions)s #>> '{customer,id}')"), models.F('id'), condition=models.Q(('conversation_id__isnull', True)), name='event_subject'),
        ),
        migrations.AddIndex(
            model_name='unnumberedevent',
            index=models.Index(fields=['client', 'number'], name='unnumbered_event'),
        ),
        migrations.AddIndex(
            model_name='webhookconfig',
            index=models.Index(condition=models.Q(('is_active', True)), fields=['client'], name='endpoint_active'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('due_at__isnull', False), ('is_test', False)), fields=['config', 'due_at', 'id'], name='delivery_due'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('due_at__isnull', False), ('is_test', True)), fields=['due_at'], name='delivery_test_due'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('is_test', True)), fields=['config', 'created_at'], name='delivery_test'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('lease_token__isnull', False)), fields=['config'], name='delivery_in_flight'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state', 'gave_up')), fields=['client', 'created_at'], name='delivery_gave_up'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='delivery_created'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('event', 'config'), name='delivery_unique'),
        ),
        migrations.AddConstraint(
            model_name='feedentry',
            constraint=models.UniqueConstraint(fields=('client', 'position'), name='feed_entry_position'),
        ),
        migrations.RunSQL(_sql('feed'), 'DROP FUNCTION webhooks_number_events'),
        migrations.RunSQL(_sql('announce'), 'DROP FUNCTION webhooks_announce'),
        migrations.RunSQL(_sql('months'), migrations.RunSQL.noop),
    ]
