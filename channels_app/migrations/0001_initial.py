import chatplatform.channel_names
import chatplatform.crypto
import chatplatform.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('bots', '0001_initial'),
        ('chats', '0001_initial'),
        ('identity', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ChannelConnection',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('channel', models.CharField(choices=chatplatform.channel_names.messaging_choices, max_length=10)),
                ('account_id', models.CharField(blank=True, default='', max_length=100)),
                ('account_name', models.CharField(blank=True, default='', max_length=200)),
                ('details', models.JSONField(default=dict)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('connected', 'Connected'), ('disconnected', 'Disconnected'), ('expired', 'Expired'), ('error', 'Error')], default='pending', max_length=12)),
                ('last_error', models.CharField(blank=True, default='', max_length=500)),
                ('failing_since', models.DateTimeField(null=True)),
                ('access_token', chatplatform.crypto.EncryptedTextField(default='', editable=False)),
                ('refresh_token', chatplatform.crypto.EncryptedTextField(default='', editable=False)),
                ('secret', chatplatform.crypto.EncryptedTextField(default='', editable=False)),
                ('token_expires_at', models.DateTimeField(null=True)),
                ('paused_until', models.DateTimeField(null=True)),
                ('last_event_at', models.DateTimeField(null=True)),
                ('missing_permissions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), default=list, size=None)),
                ('quality', models.CharField(blank=True, default='', max_length=20)),
                ('sending_limit', models.CharField(blank=True, default='', max_length=20)),
                ('connected_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='channel_connections', to='bots.bot')),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('connected_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='AccountNotice',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('template_status', 'Template Status'), ('template_quality', 'Template Quality'), ('template_category', 'Template Category'), ('quality', 'Quality'), ('sending_limit', 'Sending Limit'), ('name', 'Name'), ('review', 'Review'), ('alert', 'Alert')], max_length=20)),
                ('template', models.CharField(blank=True, default='', max_length=512)),
                ('language', models.CharField(blank=True, default='', max_length=20)),
                ('value', models.CharField(max_length=60)),
                ('previous', models.CharField(blank=True, default='', max_length=60)),
                ('reason', models.CharField(blank=True, default='', max_length=500)),
                ('is_bad', models.BooleanField()),
                ('at', models.DateTimeField()),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('connection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='channels_app.channelconnection')),
            ],
            options={
                'indexes': [models.Index(fields=['connection', '-at'], name='notice_of_account'), models.Index(condition=models.Q(('is_bad', True)), fields=['client', 'at'], name='notice_bad')],
            },
        ),
        migrations.CreateModel(
            name='OAuthAuthorization',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('account_id', models.CharField(blank=True, default='', max_length=100)),
                ('redirect_uri', models.CharField(max_length=2000)),
                ('code_verifier', chatplatform.crypto.EncryptedTextField(default='', editable=False)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('connection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='channels_app.channelconnection')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='CustomerIdentity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(choices=chatplatform.channel_names.messaging_choices, max_length=10)),
                ('account_id', models.CharField(max_length=100)),
                ('provider_user_id', models.CharField(blank=True, max_length=300)),
                ('alternate_user_id', models.CharField(blank=True, default='', max_length=300)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('customer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='channel_identities', to='chats.customer')),
            ],
        ),
        migrations.CreateModel(
            name='ChannelChat',
            fields=[
                ('conversation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='channel_chat', serialize=False, to='chats.conversation')),
                ('survey_sent_at', models.DateTimeField(null=True)),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('identity', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chats', to='channels_app.customeridentity')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='FormerId',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider_user_id', models.CharField(max_length=300)),
                ('until', models.DateTimeField()),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('identity', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='former_ids', to='channels_app.customeridentity')),
            ],
        ),
        migrations.CreateModel(
            name='InboundCallback',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('channel', models.CharField(choices=chatplatform.channel_names.messaging_choices, max_length=10)),
                ('path', models.TextField(blank=True, db_default='')),
                ('query', models.TextField(blank=True, db_default='')),
                ('body', models.BinaryField()),
                ('item_count', models.PositiveIntegerField(default=0)),
                ('error', models.CharField(blank=True, default='', max_length=200)),
                ('received_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(fields=['received_at'], name='callback_age')],
            },
        ),
        migrations.CreateModel(
            name='InboundItem',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('position', models.PositiveIntegerField()),
                ('channel', models.CharField(choices=chatplatform.channel_names.messaging_choices, max_length=10)),
                ('account_id', models.CharField(max_length=100)),
                ('key', models.CharField(max_length=120)),
                ('outcome', models.CharField(choices=[('waiting', 'Waiting'), ('processed', 'Processed'), ('duplicate', 'Duplicate'), ('unsupported', 'Unsupported'), ('unknown_account', 'Unknown Account')], max_length=15)),
                ('kind', models.CharField(blank=True, default='', max_length=60)),
                ('awaited_message_id', models.CharField(blank=True, default='', max_length=300)),
                ('connection_id', models.UUIDField(null=True)),
                ('customer_key', models.CharField(blank=True, db_default='', max_length=80)),
                ('is_batched', models.BooleanField(db_default=False)),
                ('attempts', models.PositiveSmallIntegerField(db_default=0)),
                ('is_suspect', models.BooleanField(db_default=False)),
                ('is_parked', models.BooleanField(db_default=False)),
                ('error', models.CharField(blank=True, db_default='', max_length=500)),
                ('callback', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='channels_app.inboundcallback')),
            ],
        ),
        migrations.CreateModel(
            name='OutboundSend',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('part', models.PositiveSmallIntegerField()),
                ('is_last', models.BooleanField()),
                ('recipient_id', models.CharField(max_length=300)),
                ('text', models.TextField(blank=True, default='')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('sending', 'Sending'), ('sent', 'Sent'), ('failed', 'Failed'), ('uncertain', 'Uncertain')], default='queued', max_length=9)),
                ('provider_message_id', models.CharField(max_length=300, null=True)),
                ('error', models.CharField(blank=True, default='', max_length=500)),
                ('is_charged', models.BooleanField(null=True)),
                ('refusals', models.PositiveSmallIntegerField(default=0)),
                ('sent_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('connection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='channels_app.channelconnection')),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='outbound_sends', to='chats.message')),
            ],
            options={
                'verbose_name': 'sent message',
                'verbose_name_plural': 'sent messages',
            },
        ),
        migrations.AddIndex(
            model_name='channelconnection',
            index=models.Index(condition=models.Q(('status__in', ['connected', 'error'])), fields=['token_expires_at'], name='channel_token_expiry'),
        ),
        migrations.AddConstraint(
            model_name='channelconnection',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ['connected', 'expired', 'error'])), fields=('channel', 'account_id'), name='channel_account_live_unique'),
        ),
        migrations.AddConstraint(
            model_name='channelconnection',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ['connected', 'expired', 'error'])), fields=('bot', 'channel'), name='channel_of_bot_live_unique'),
        ),
        migrations.AddConstraint(
            model_name='channelconnection',
            constraint=models.UniqueConstraint(fields=('bot', 'channel', 'account_id'), name='channel_account_of_bot_unique'),
        ),
        migrations.AddIndex(
            model_name='oauthauthorization',
            index=models.Index(fields=['expires_at'], name='oauth_authorization_age'),
        ),
        migrations.AddConstraint(
            model_name='customeridentity',
            constraint=models.UniqueConstraint(condition=models.Q(('provider_user_id', ''), _negated=True), fields=('client', 'channel', 'account_id', 'provider_user_id'), name='customer_identity_unique'),
        ),
        migrations.AddConstraint(
            model_name='customeridentity',
            constraint=models.UniqueConstraint(condition=models.Q(('alternate_user_id', ''), _negated=True), fields=('client', 'channel', 'account_id', 'alternate_user_id'), name='customer_alternate_id_unique'),
        ),
        migrations.AddConstraint(
            model_name='formerid',
            constraint=models.UniqueConstraint(fields=('identity', 'provider_user_id'), name='former_id_unique'),
        ),
        migrations.AddIndex(
            model_name='formerid',
            index=models.Index(fields=['client', 'provider_user_id'], name='former_id_of_customer'),
        ),
        migrations.AddIndex(
            model_name='inbounditem',
            index=models.Index(condition=models.Q(('awaited_message_id', ''), _negated=True), fields=['channel', 'account_id', 'awaited_message_id'], name='inbound_item_waiting'),
        ),
        migrations.AddIndex(
            model_name='inbounditem',
            index=models.Index(condition=models.Q(('outcome', 'waiting')), fields=['customer_key', 'id'], name='inbound_waiting_of_customer'),
        ),
        migrations.AddIndex(
            model_name='inbounditem',
            index=models.Index(condition=models.Q(('outcome', 'waiting')), fields=['connection_id', 'id'], name='inbound_waiting_of_account'),
        ),
        migrations.AddConstraint(
            model_name='inbounditem',
            constraint=models.UniqueConstraint(fields=('callback', 'position'), name='inbound_item_position_unique'),
        ),
        migrations.AddConstraint(
            model_name='inbounditem',
            constraint=models.UniqueConstraint(condition=models.Q(('outcome__in', ['waiting', 'processed'])), fields=('channel', 'account_id', 'key'), name='inbound_item_unique'),
        ),
        migrations.AddIndex(
            model_name='outboundsend',
            index=models.Index(fields=['connection', 'recipient_id', 'sent_at'], name='outbound_receipts'),
        ),
        migrations.AddIndex(
            model_name='outboundsend',
            index=models.Index(condition=models.Q(('state__in', ['failed', 'uncertain'])), fields=['client', 'created_at'], name='outbound_failed'),
        ),
        migrations.AddIndex(
            model_name='outboundsend',
            index=models.Index(fields=['connection', 'created_at'], name='outbound_by_day'),
        ),
        migrations.AddConstraint(
            model_name='outboundsend',
            constraint=models.UniqueConstraint(fields=('message', 'part'), name='outbound_part_unique'),
        ),
        migrations.AddConstraint(
            model_name='outboundsend',
            constraint=models.UniqueConstraint(fields=('connection', 'provider_message_id'), name='outbound_provider_id_unique'),
        ),
    ]
