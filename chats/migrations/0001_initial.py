from pathlib import Path

import chatplatform.channel_names
import chatplatform.ids
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.operations
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models


def _sql(subject: str) -> str:
    return Path(__file__).with_name(f'0001_{subject}.sql').read_text()


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('chatplatform', '0001_initial'),
        ('webhooks', '0001_initial'),
        ('bots', '0001_initial'),
        ('identity', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        django.contrib.postgres.operations.TrigramExtension(),
        django.contrib.postgres.operations.BtreeGinExtension(),
        migrations.CreateModel(
            name='Customer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('external_id', models.CharField(max_length=200, null=True)),
                ('name', models.CharField(blank=True, default='', max_length=200)),
                ('email', models.CharField(blank=True, default='', max_length=254)),
                ('phone', models.CharField(blank=True, default='', max_length=40)),
                ('avatar_url', models.CharField(blank=True, default='', max_length=500)),
                ('import_source_id', models.CharField(max_length=200, null=True)),
                ('attributes', models.JSONField(default=dict)),
                ('self_reported_fields', models.JSONField(default=list)),
                ('blocked_until', models.DateTimeField(null=True)),
                ('block_reason', models.CharField(max_length=300, null=True)),
                ('opt_out', models.CharField(choices=[('none', 'None'), ('offers', 'Offers'), ('all', 'All')], db_default='none', default='none', max_length=6)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
            ],
        ),
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('visitor_id', models.BigIntegerField(null=True)),
                ('chat_code', models.CharField(default=chatplatform.ids.short_code, max_length=20, unique=True)),
                ('channel', models.CharField(choices=chatplatform.channel_names.channel_choices, default='api', max_length=10)),
                ('is_preview', models.BooleanField(default=False)),
                ('status', models.CharField(choices=[('open', 'Open'), ('snoozed', 'Snoozed'), ('ended', 'Ended')], default='open', max_length=10)),
                ('assign_type', models.CharField(choices=[('bot', 'Bot'), ('queue', 'Queue'), ('agent', 'Agent')], default='bot', max_length=10)),
                ('priority', models.CharField(choices=[('low', 'Low'), ('normal', 'Normal'), ('high', 'High'), ('urgent', 'Urgent')], db_default='normal', default='normal', max_length=6)),
                ('version', models.PositiveIntegerField(default=1)),
                ('waiting_since', models.DateTimeField(null=True)),
                ('handoff_reason', models.CharField(max_length=60, null=True)),
                ('handed_off_at', models.DateTimeField(null=True)),
                ('language', models.CharField(max_length=20)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), default=list, size=None)),
                ('sentiment', models.CharField(max_length=10, null=True)),
                ('summary', models.TextField(null=True)),
                ('unread_count', models.PositiveIntegerField(default=0)),
                ('message_count', models.PositiveIntegerField(default=0)),
                ('last_seq', models.PositiveIntegerField(default=0)),
                ('last_event_seq', models.PositiveIntegerField(default=0)),
                ('last_message_at', models.DateTimeField(null=True)),
                ('first_response_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('ended_by', models.CharField(max_length=12, null=True)),
                ('location', models.JSONField(null=True)),
                ('metadata', models.JSONField(default=dict)),
                ('snoozed_until', models.DateTimeField(null=True)),
                ('return_at', models.DateTimeField(null=True)),
                ('assigned_at', models.DateTimeField(null=True)),
                ('read_from_seq', models.PositiveIntegerField(default=0)),
                ('reply_window_expires_at', models.DateTimeField(null=True)),
                ('is_reachable', models.BooleanField(default=True)),
                ('provider_user_id', models.CharField(blank=True, db_default='', max_length=300)),
                ('sentiment_score', models.FloatField(null=True)),
                ('provider', models.CharField(blank=True, default='', max_length=60)),
                ('group_id', models.CharField(blank=True, default='', max_length=200)),
                ('requester', models.JSONField(null=True)),
                ('responsible', models.JSONField(null=True)),
                ('external_id', models.CharField(max_length=200, null=True)),
                ('imported_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('assignee', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to='bots.bot')),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('opened_by_key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to='identity.apikey')),
                ('previous_chat', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to='chats.conversation')),
                ('customer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to='chats.customer')),
            ],
        ),
        migrations.CreateModel(
            name='CustomerErasure',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('customer_id', models.BigIntegerField()),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=8)),
                ('chats_total', models.PositiveIntegerField()),
                ('chats_erased', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('seq', models.PositiveIntegerField()),
                ('sender_type', models.CharField(choices=[('customer', 'Customer'), ('bot', 'Bot'), ('agent', 'Agent'), ('system', 'System')], max_length=10)),
                ('sender_id', models.CharField(max_length=60, null=True)),
                ('sender_name', models.CharField(blank=True, default='', max_length=200)),
                ('recipient', models.JSONField(null=True)),
                ('content', models.JSONField()),
                ('citations', models.JSONField(default=list)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('sent', 'Sent'), ('delivered', 'Delivered'), ('read', 'Read'), ('failed', 'Failed')], default='sent', max_length=10)),
                ('error', models.CharField(max_length=500, null=True)),
                ('is_note', models.BooleanField(default=False)),
                ('is_welcome', models.BooleanField(default=False)),
                ('client_message_id', models.CharField(max_length=200, null=True)),
                ('provider_message_id', models.CharField(max_length=300, null=True)),
                ('language', models.CharField(blank=True, default='', max_length=20)),
                ('translations', models.JSONField(default=dict)),
                ('sentiment', models.CharField(max_length=10, null=True)),
                ('metadata', models.JSONField(default=dict)),
                ('sent_at', models.DateTimeField(null=True)),
                ('external_id', models.CharField(max_length=200, null=True)),
                ('text', models.TextField(blank=True, default='')),
                ('receipt', models.JSONField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('delivered_at', models.DateTimeField(null=True)),
                ('read_at', models.DateTimeField(null=True)),
                ('edited_at', models.DateTimeField(null=True)),
                ('deleted_at', models.DateTimeField(null=True)),
                ('customer_reaction', models.CharField(blank=True, default='', max_length=40)),
                ('customer_reacted_at', models.DateTimeField(null=True)),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='chats.conversation')),
                ('in_reply_to', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to='chats.message')),
            ],
        ),
        migrations.CreateModel(
            name='Feedback',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rating', models.PositiveSmallIntegerField(null=True)),
                ('thumb', models.CharField(choices=[('up', 'Up'), ('down', 'Down')], max_length=4, null=True)),
                ('resolved', models.BooleanField(null=True)),
                ('reason', models.CharField(max_length=20, null=True)),
                ('comment', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('updated_at', models.DateTimeField(null=True)),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='feedbacks', to='chats.conversation')),
                ('message', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='chats.message')),
            ],
            options={
                'verbose_name_plural': 'feedback',
            },
        ),
        migrations.AddField(
            model_name='conversation',
            name='last_message',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='chats.message'),
        ),
        migrations.CreateModel(
            name='Attachment',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('file', models.FileField(max_length=200, upload_to='attachments/')),
                ('file_name', models.CharField(max_length=255)),
                ('mime_type', models.CharField(max_length=120)),
                ('size_bytes', models.PositiveBigIntegerField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attachments', to='chats.conversation')),
                ('message', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='attachments', to='chats.message')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('assigned', 'Assigned'), ('unassigned', 'Unassigned'), ('handoff', 'Handoff'), ('unanswered', 'Unanswered'), ('mentioned', 'Mentioned')], max_length=10)),
                ('is_read', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('assigned_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='chats.conversation')),
                ('message', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='chats.message')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='QuestionGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('vector', models.BinaryField(default=b'')),
                ('count', models.PositiveIntegerField(default=0)),
                ('latest_at', models.DateTimeField(null=True)),
                ('status', models.CharField(choices=[('open', 'Open'), ('learning', 'Learning'), ('answered', 'Answered')], default='open', max_length=10)),
                ('answer', models.TextField(blank=True, default='')),
                ('sources', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), blank=True, default=list, size=None)),
                ('fault', models.CharField(blank=True, default='', max_length=20)),
                ('asked_again_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='question_groups', to='bots.bot')),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('document', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to='bots.document')),
            ],
            options={
                'verbose_name': 'question without an answer',
                'verbose_name_plural': 'questions without an answer',
            },
        ),
        migrations.CreateModel(
            name='GroupedQuestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_at', models.DateTimeField()),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='chats.message')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='chats.questiongroup')),
            ],
        ),
        migrations.CreateModel(
            name='Replay',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('day', models.DateField()),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=10)),
                ('error', models.CharField(blank=True, default='', max_length=200)),
                ('message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('is_cut', models.BooleanField(default=False)),
                ('with_calls', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('gained', models.PositiveIntegerField(default=0)),
                ('lost', models.PositiveIntegerField(default=0)),
                ('changed', models.PositiveIntegerField(db_default=0)),
                ('answered', models.PositiveIntegerField(default=0)),
                ('unanswered', models.PositiveIntegerField(default=0)),
                ('engine', models.CharField(blank=True, default='', max_length=40)),
                ('knowledge_version', models.PositiveIntegerField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replays', to='bots.bot')),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ReplayedReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('change', models.CharField(choices=[('gained', 'Gained'), ('lost', 'Lost'), ('changed', 'Changed'), ('answered', 'Answered'), ('unanswered', 'Unanswered')], max_length=10)),
                ('text', models.TextField(blank=True, default='')),
                ('sources', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), blank=True, default=list, size=None)),
                ('decision', models.CharField(max_length=20)),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='chats.message')),
                ('replay', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replies', to='chats.replay')),
            ],
        ),
        migrations.CreateModel(
            name='PushSubscription',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('sign_in', models.UUIDField()),
                ('endpoint', models.CharField(max_length=1000, unique=True)),
                ('p256dh', models.CharField(max_length=100)),
                ('auth', models.CharField(max_length=40)),
                ('device', models.CharField(blank=True, default='', max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='push_subscriptions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='SavedReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shortcut', models.CharField(max_length=40)),
                ('texts', models.JSONField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Summary',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('summary', models.TextField()),
                ('language', models.CharField(max_length=20)),
                ('key_points', models.JSONField(default=list)),
                ('customer_intent', models.TextField(blank=True, default='')),
                ('resolution', models.TextField(blank=True, default='')),
                ('message_count', models.PositiveIntegerField()),
                ('engine', models.CharField(max_length=60)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='summaries', to='chats.conversation')),
            ],
            options={
                'verbose_name_plural': 'summaries',
            },
        ),
        migrations.CreateModel(
            name='SummaryJob',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_from', models.DateTimeField(null=True)),
                ('created_to', models.DateTimeField(null=True)),
                ('force', models.BooleanField(default=False)),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=8)),
                ('total', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('failed', models.PositiveIntegerField(default=0)),
                ('position', models.UUIDField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
                ('bot', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='bots.bot')),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Tagging',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('source', models.CharField(choices=[('agent', 'Agent'), ('ai', 'Ai'), ('customer', 'Customer')], max_length=8)),
                ('confidence', models.FloatField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='taggings', to='chats.conversation')),
            ],
        ),
        migrations.CreateModel(
            name='ClientTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('colour', models.CharField(blank=True, default='', max_length=7)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('client', 'name'), name='client_tag_unique')],
            },
        ),
        migrations.AddIndex(
            model_name='customer',
            index=django.contrib.postgres.indexes.GinIndex(django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper('name'), 'gin_trgm_ops'), django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper('email'), 'gin_trgm_ops'), django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper('phone'), 'gin_trgm_ops'), django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper('external_id'), 'gin_trgm_ops'), name='customer_search'),
        ),
        migrations.AddIndex(
            model_name='customer',
            index=models.Index(fields=['client', '-id'], name='customer_list'),
        ),
        migrations.AddConstraint(
            model_name='customer',
            constraint=models.UniqueConstraint(fields=('client', 'external_id'), name='customer_external_id'),
        ),
        migrations.AddConstraint(
            model_name='customer',
            constraint=models.UniqueConstraint(fields=('client', 'import_source_id'), name='customer_import_source_id'),
        ),
        migrations.AddConstraint(
            model_name='customererasure',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ['queued', 'running'])), fields=('client', 'customer_id'), name='erasure_unique'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(fields=['client', 'id'], name='message_export'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('receipt__decision__in', ('below_gate', 'nothing_to_quote', 'no_answer', 'model_refused'))), fields=['client', '-id'], name='message_unanswered'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=django.contrib.postgres.indexes.GinIndex(models.F('client'), django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper('text'), 'gin_trgm_ops'), name='message_client_search'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('conversation', 'seq'), name='message_seq'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('conversation', 'client_message_id'), name='message_client_id'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('conversation', 'external_id'), name='message_external'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('sender_type__in', ['bot', 'system'])), fields=('in_reply_to',), name='message_one_reply'),
        ),
        migrations.AddIndex(
            model_name='feedback',
            index=models.Index(fields=['client', '-id'], name='feedback_list'),
        ),
        migrations.AddConstraint(
            model_name='feedback',
            constraint=models.UniqueConstraint(condition=models.Q(('message__isnull', True)), fields=('conversation',), name='feedback_chat_unique'),
        ),
        migrations.AddConstraint(
            model_name='feedback',
            constraint=models.UniqueConstraint(fields=('message',), name='feedback_message_unique'),
        ),
        migrations.AddConstraint(
            model_name='feedback',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('rating__gte', 1), ('rating__lte', 5), ('thumb__isnull', True)), models.Q(('message__isnull', False), ('rating__isnull', True), ('thumb__isnull', False)), _connector='OR'), name='feedback_rating'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(models.F('client'), models.OrderBy(django.db.models.functions.comparison.Coalesce('last_message_at', 'created_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='conversation_activity'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['client', 'id'], name='conversation_export'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['client', 'created_at', 'id'], name='conversation_report'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('group_id', ''), _negated=True), fields=['client', 'group_id', '-id'], name='conversation_group'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['bot', '-id'], name='conversation_of_bot'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['customer', '-id'], name='conversation_of_customer'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('status', 'open')), fields=['last_message_at'], name='conversation_idle'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('status', 'open'), ('waiting_since__isnull', False)), fields=['waiting_since'], name='conversation_waiting'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('status', 'snoozed')), fields=['snoozed_until'], name='conversation_to_wake'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('return_at__isnull', False)), fields=['return_at'], name='conversation_to_return'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(models.F('client'), django.db.models.functions.comparison.Coalesce('ended_at', 'imported_at'), models.F('id'), condition=models.Q(('status', 'ended')), name='conversation_to_delete'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('status', 'open')), fields=['client', 'assign_type', 'assignee'], name='conversation_owner'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.UniqueConstraint(fields=('client', 'external_id'), name='conversation_external'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.CheckConstraint(condition=models.Q(('assign_type', 'agent'), ('assignee__isnull', True), _connector='OR'), name='assignee_only_for_agent'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(fields=['user', '-id'], name='notification_list'),
        ),
        migrations.AddIndex(
            model_name='questiongroup',
            index=models.Index(fields=['bot', 'status', '-count', '-id'], name='question_group_of_bot'),
        ),
        migrations.AddIndex(
            model_name='questiongroup',
            index=models.Index(fields=['client', 'status', '-count', '-id'], name='question_group_list'),
        ),
        migrations.AddIndex(
            model_name='groupedquestion',
            index=models.Index(fields=['group', '-id'], name='grouped_question_of_group'),
        ),
        migrations.AddIndex(
            model_name='groupedquestion',
            index=models.Index(fields=['asked_at'], name='grouped_question_age'),
        ),
        migrations.AddIndex(
            model_name='replay',
            index=models.Index(fields=['bot', '-id'], name='replay_of_bot'),
        ),
        migrations.AddIndex(
            model_name='replayedreply',
            index=models.Index(fields=['replay', 'change', 'id'], name='replayed_reply_change'),
        ),
        migrations.AddConstraint(
            model_name='replayedreply',
            constraint=models.UniqueConstraint(fields=('replay', 'message'), name='replayed_reply_unique'),
        ),
        migrations.AddConstraint(
            model_name='savedreply',
            constraint=models.UniqueConstraint(fields=('client', 'shortcut', 'owner'), name='saved_reply_shortcut', nulls_distinct=False),
        ),
        migrations.AddIndex(
            model_name='summary',
            index=models.Index(fields=['conversation', '-id'], name='summary_latest'),
        ),
        migrations.AddIndex(
            model_name='tagging',
            index=models.Index(fields=['client', 'name'], name='tag_list'),
        ),
        migrations.AddConstraint(
            model_name='tagging',
            constraint=models.UniqueConstraint(fields=('conversation', 'name'), name='tagging_unique'),
        ),
        migrations.RunSQL(
            _sql('message_json'), 'DROP VIEW chats_api_message; DROP FUNCTION chats_timestamp'
        ),
        migrations.RunSQL(
            _sql('store_message'),
            'DROP FUNCTION chats_count_messages, chats_store_message, chats_may_see',
        ),
        migrations.RunSQL(
            _sql('receive_message'),
            'DROP FUNCTION chats_receive_message, chats_lock_for_reply, chats_bot_may_reply',
        ),
    ]
