from pathlib import Path

import chatplatform.crypto
import chatplatform.ids
import django.db.models.functions.datetime
from django.db import migrations, models


def _sql(subject: str) -> str:
    return Path(__file__).with_name(f'0001_{subject}.sql').read_text()


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='EncryptionKey',
            fields=[
                ('fingerprint', models.CharField(max_length=16, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='FairShare',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('queue', models.CharField(max_length=20)),
                ('client_id', models.BigIntegerField()),
                ('served_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('queue', 'client_id'), name='fair_share_unique')],
            },
        ),
        migrations.CreateModel(
            name='IdempotentResponse',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('client_id', models.BigIntegerField()),
                ('key_hash', models.CharField(max_length=64)),
                ('fingerprint', models.CharField(max_length=64)),
                ('response', chatplatform.crypto.EncryptedTextField(default='', editable=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='idempotent_response_age')],
                'constraints': [models.UniqueConstraint(fields=('client_id', 'key_hash'), name='idempotent_response_unique')],
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('client_id', models.BigIntegerField(null=True)),
                ('name', models.CharField(max_length=80)),
                ('args', models.JSONField(default=dict)),
                ('priority', models.BigIntegerField(db_default=0)),
                ('dedupe_key', models.CharField(max_length=200, null=True)),
                ('ordering_key', models.CharField(max_length=80, null=True)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('dead', 'Dead'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('dispatched_at', models.DateTimeField(null=True)),
                ('dispatches', models.PositiveSmallIntegerField(db_default=0)),
                ('attempts', models.PositiveSmallIntegerField(db_default=0)),
                ('max_attempts', models.PositiveSmallIntegerField(null=True)),
                ('lease_until', models.DateTimeField(null=True)),
                ('lease_token', models.UUIDField(null=True)),
                ('lease_holder', models.BigIntegerField(null=True)),
                ('crashes', models.PositiveSmallIntegerField(db_default=0)),
                ('progress', models.PositiveSmallIntegerField(default=0)),
                ('last_error', models.TextField(blank=True, default='')),
                ('trace_id', models.CharField(blank=True, default='', max_length=128)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'queued')), fields=['due_at'], name='job_due'), models.Index(condition=models.Q(('state', 'running')), fields=['lease_until'], name='job_leased'), models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['ordering_key', 'id'], name='job_ordering'), models.Index(condition=models.Q(('state__in', ['done', 'cancelled'])), fields=['finished_at'], name='job_ended'), models.Index(condition=models.Q(('state', 'dead')), fields=['name'], name='job_dead')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'queued')), fields=('name', 'dedupe_key'), name='job_queued_unique'), models.UniqueConstraint(condition=models.Q(('state', 'running')), fields=('ordering_key',), name='job_running_unique'), models.UniqueConstraint(condition=models.Q(('crashes__gte', 2), ('state', 'running')), fields=('lease_holder',), name='job_suspect_unique')],
            },
        ),
        # Makes, drops and fills month partitions of the tables that other apps part.
        migrations.RunSQL(
            _sql('months'),
            'DROP FUNCTION chatplatform_part_by_month, chatplatform_analyze,'
            ' chatplatform_drop_month, chatplatform_make_month, chatplatform_first_key',
        ),
        # A job is written four times and deleted: at the default of a fifth, millions of dead rows.
        migrations.RunSQL(
            'ALTER TABLE chatplatform_job SET (autovacuum_vacuum_scale_factor = 0.01,'
            ' autovacuum_analyze_scale_factor = 0.01)',
            migrations.RunSQL.noop,
        ),
    ]
