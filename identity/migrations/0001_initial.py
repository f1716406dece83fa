from pathlib import Path

import chatplatform.crypto
import chatplatform.ids
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


def _sql(subject: str) -> str:
    return Path(__file__).with_name(f'0001_{subject}.sql').read_text()


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Registration',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('company_name', models.CharField(max_length=200)),
                ('full_name', models.CharField(max_length=200)),
                ('email', models.EmailField(db_index=True, max_length=254)),
                ('language', models.CharField(max_length=20)),
                ('timezone', models.CharField(max_length=64)),
                ('password', models.CharField(max_length=128)),
                ('token_hash', models.CharField(max_length=64, null=True, unique=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('email', models.EmailField(max_length=254, unique=True)),
                ('full_name', models.CharField(max_length=200)),
                ('avatar_url', models.CharField(blank=True, default='', max_length=500)),
                ('avatar_file', models.FileField(blank=True, db_default='', default='', max_length=200, upload_to='banners/')),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('agent', 'Agent'), ('viewer', 'Viewer')], default='agent', max_length=10)),
                ('language', models.CharField(default='en', max_length=20)),
                ('can_train', models.BooleanField(default=False)),
                ('is_disabled', models.BooleanField(default=False, verbose_name='disabled')),
                ('is_away', models.BooleanField(db_default=False, default=False, verbose_name='away')),
                ('token_version', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('bot_id', models.BigIntegerField(null=True)),
                ('name', models.CharField(max_length=100)),
                ('scope', models.CharField(choices=[('secret', 'Secret'), ('public', 'Public')], max_length=10)),
                ('prefix', models.CharField(max_length=12, unique=True)),
                ('secret_hash', models.CharField(max_length=64)),
                ('public_key', models.CharField(blank=True, db_default='', max_length=100)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_used_at', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('requests_per_minute', models.PositiveIntegerField(null=True)),
                ('daily_credits', models.PositiveIntegerField(null=True)),
                ('mcp_write', models.BooleanField(db_default=False)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('sign_in', 'Sign In'), ('code', 'Code'), ('ask_reset', 'Ask Reset'), ('try_reset', 'Try Reset'), ('register', 'Register'), ('confirm', 'Confirm'), ('provider', 'Provider'), ('add_user', 'Add User'), ('test_mail', 'Test Mail'), ('ask_link', 'Ask Link'), ('link_mail', 'Link Mail'), ('mail_chat', 'Mail Chat'), ('mail_to', 'Mail To'), ('mail_guest', 'Mail Guest')], max_length=10)),
                ('account_hash', models.CharField(max_length=64)),
                ('address', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'address', 'created_at'], name='attempt_address'), models.Index(fields=['kind', 'account_hash'], name='attempt_account')],
            },
        ),
        migrations.CreateModel(
            name='Client',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('code', models.SlugField(max_length=60, unique=True)),
                ('default_language', models.CharField(default='en', max_length=20)),
                ('languages', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), blank=True, default=list, size=None)),
                ('timezone', models.CharField(default='UTC', max_length=64)),
                ('is_disabled', models.BooleanField(default=False, verbose_name='disabled')),
                ('frozen_at', models.DateTimeField(editable=False, null=True)),
                ('rate_limit_factor', models.FloatField(db_default=1, default=1, help_text='Multiplies how many requests its people and keys may make in a minute.', validators=[django.core.validators.MinValueValidator(0.01), django.core.validators.MaxValueValidator(100)])),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('frozen_at__isnull', False)), fields=['id'], name='client_frozen')],
            },
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('action', models.CharField(max_length=60)),
                ('subject', models.CharField(blank=True, default='', max_length=100)),
                ('changes', models.JSONField(default=dict)),
                ('address', models.CharField(blank=True, default='', max_length=64)),
                ('request_id', models.CharField(blank=True, default='', max_length=64)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('api_key', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='identity.apikey')),
                ('user', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to=settings.AUTH_USER_MODEL)),
                ('client', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, to='identity.client')),
            ],
        ),
        migrations.CreateModel(
            name='AuditAnchor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('month', models.DateField()),
                ('rows', models.PositiveIntegerField()),
                ('hash', models.CharField(max_length=64)),
                ('seal', chatplatform.crypto.EncryptedTextField(editable=False)),
                ('client', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, to='identity.client')),
            ],
        ),
        migrations.AddField(
            model_name='apikey',
            name='client',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_keys', to='identity.client'),
        ),
        migrations.AddField(
            model_name='user',
            name='client',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='users', to='identity.client'),
        ),
        migrations.CreateModel(
            name='ClientConfig',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('business_hours', models.JSONField(default=list)),
                ('holidays', models.JSONField(default=list)),
                ('out_of_hours_message', models.JSONField(default=dict)),
                ('assign_strategy', models.CharField(choices=[('manual', 'Manual'), ('round_robin', 'Round Robin'), ('least_busy', 'Least Busy')], default='manual', max_length=12)),
                ('agent_capacity', models.PositiveSmallIntegerField(default=5)),
                ('handoff_on_request', models.BooleanField(default=True)),
                ('handoff_on_no_answer', models.BooleanField(default=True)),
                ('ask_again_before_handoff', models.BooleanField(null=True)),
                ('answer_while_waiting', models.BooleanField(db_default=True, default=True)),
                ('handoff_message', models.JSONField(default=dict)),
                ('automatic_messages', models.JSONField(default=dict)),
                ('answer_threshold', models.FloatField(default=0.77)),
                ('fallback_to_extractive', models.BooleanField(default=True)),
                ('confirm_answers', models.BooleanField(db_default=True, default=True)),
                ('read_attachments', models.BooleanField(db_default=True, default=True)),
                ('burst_wait_ms', models.PositiveIntegerField(default=0)),
                ('inactivity_end_minutes', models.PositiveIntegerField(default=1440)),
                ('reopen_window_minutes', models.PositiveIntegerField(default=1440)),
                ('reuse_open', models.BooleanField(default=False)),
                ('ask_feedback', models.BooleanField(default=True)),
                ('feedback_edit_minutes', models.PositiveIntegerField(default=60)),
                ('first_response_target_seconds', models.PositiveIntegerField(default=300)),
                ('auto_summary', models.BooleanField(default=False)),
                ('auto_tag', models.BooleanField(default=False)),
                ('auto_sentiment', models.BooleanField(default=False)),
                ('auto_translate', models.BooleanField(default=False)),
                ('mask_personal_data', models.BooleanField(default=False)),
                ('silent_channels', models.JSONField(default=list)),
                ('message_prices', models.JSONField(default=dict)),
                ('retention_days', models.PositiveIntegerField(null=True)),
                ('version', models.PositiveIntegerField(default=1)),
                ('client', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='config', to='identity.client')),
            ],
            options={
                'verbose_name': 'chat settings',
                'verbose_name_plural': 'chat settings',
            },
        ),
        migrations.CreateModel(
            name='CreditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('grant', 'Grant'), ('top_up', 'Top Up'), ('reserve', 'Reserve'), ('settle', 'Settle'), ('release', 'Release')], max_length=10)),
                ('amount', models.BigIntegerField()),
                ('balance_after', models.BigIntegerField()),
                ('reference', models.CharField(max_length=200)),
                ('is_open', models.BooleanField(default=False, verbose_name='open')),
                ('job_id', models.BigIntegerField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='credit_entries', to='identity.client')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('key', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to='identity.apikey')),
            ],
            options={
                'verbose_name_plural': 'credit entries',
            },
        ),
        migrations.CreateModel(
            name='CreditOrder',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('amount', models.PositiveIntegerField()),
                ('reference', models.CharField(max_length=200)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('paid', 'Paid'), ('refused', 'Refused')], default='pending', max_length=8)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='EmailNotification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('recipients', django.contrib.postgres.fields.ArrayField(base_field=models.EmailField(max_length=254), default=list, size=None)),
                ('on_assigned', models.BooleanField(default=False)),
                ('on_unanswered', models.BooleanField(default=False)),
                ('on_handoff', models.BooleanField(default=False)),
                ('on_channel_error', models.BooleanField(default=False)),
                ('on_low_credit', models.BooleanField(default=False)),
                ('to_assignee', models.BooleanField(default=True)),
                ('unanswered_after_minutes', models.PositiveIntegerField(default=15)),
                ('client', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='email_notification', to='identity.client')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='PasswordReset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ProviderAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('issuer', models.CharField(max_length=500)),
                ('subject', models.CharField(max_length=255)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='RefreshToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('family', models.UUIDField()),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('scope', models.CharField(blank=True, db_default='', max_length=100)),
                ('expires_at', models.DateTimeField()),
                ('rotated_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='refresh_tokens', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('list_name', models.CharField(max_length=60)),
                ('name', models.CharField(max_length=80)),
                ('query', models.TextField(blank=True)),
                ('is_shared', models.BooleanField(default=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='SecondFactor',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('secret', chatplatform.crypto.EncryptedTextField(editable=False, tenant_attribute='user_id')),
                ('latest_step', models.BigIntegerField()),
                ('recovery_hashes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), size=None)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='second_factor', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='SignInProvider',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('issuer', models.CharField(max_length=500)),
                ('application_id', models.CharField(max_length=255)),
                ('application_secret', chatplatform.crypto.EncryptedTextField(editable=False)),
                ('email_domains', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=253), size=None)),
                ('is_required', models.BooleanField(default=False)),
                ('creates_agents', models.BooleanField(default=False)),
                ('admits_owners', models.BooleanField(default=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('client', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='sign_in_provider', to='identity.client')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='SiteSession',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('token_family', models.UUIDField(null=True, unique=True)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'session',
                'verbose_name_plural': 'sessions',
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Impersonation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='impersonations', to=settings.AUTH_USER_MODEL)),
                ('session', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='impersonation', to='identity.sitesession')),
            ],
        ),
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('plan', models.CharField(choices=[('trial', 'Trial'), ('standard', 'Standard'), ('unlimited', 'Unlimited')], default='trial', max_length=10)),
                ('credits_included', models.PositiveIntegerField(default=1000)),
                ('credits_left', models.PositiveBigIntegerField(default=0)),
                ('credits_used', models.PositiveBigIntegerField(default=0)),
                ('lowest_warning_level', models.PositiveSmallIntegerField(null=True)),
                ('period_start', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('period_end', models.DateTimeField(blank=True, null=True)),
                ('is_active', models.BooleanField(default=True, verbose_name='active')),
                ('client', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='subscription', to='identity.client')),
            ],
        ),
        migrations.CreateModel(
            name='ChannelAccessToken',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('channel', models.CharField(max_length=10)),
                ('access_token', chatplatform.crypto.EncryptedTextField(editable=False)),
                ('user_external_id', models.CharField(blank=True, default='', max_length=200)),
                ('expires_at', models.DateTimeField(null=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='identity.client')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('client', 'channel'), name='channel_access_token_unique')],
            },
        ),
        migrations.CreateModel(
            name='AuditLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hash', models.CharField(max_length=64)),
                ('event', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='link', to='identity.auditevent')),
                ('client', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='identity.client')),
            ],
            options={
                'indexes': [models.Index(fields=['client', '-id'], name='audit_chain')],
            },
        ),
        migrations.AddIndex(
            model_name='auditevent',
            index=models.Index(fields=['client', '-id'], name='audit_log'),
        ),
        migrations.AddIndex(
            model_name='auditevent',
            index=models.Index(fields=['subject', '-id'], name='audit_history'),
        ),
        migrations.AddIndex(
            model_name='auditanchor',
            index=models.Index(fields=['client', '-id'], name='audit_anchor'),
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(('scope', 'secret'), ('bot_id__isnull', False), _connector='OR'), name='public_key_has_bot'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('client__isnull', False), ('is_superuser', True), _connector='OR'), name='user_has_client'),
        ),
        migrations.AddIndex(
            model_name='creditentry',
            index=models.Index(fields=['client', 'id'], name='credit_ledger'),
        ),
        migrations.AddIndex(
            model_name='creditentry',
            index=models.Index(fields=['client', 'reference'], name='credit_reference'),
        ),
        migrations.AddIndex(
            model_name='creditentry',
            index=models.Index(fields=['client', 'created_at'], name='credit_by_date'),
        ),
        migrations.AddIndex(
            model_name='creditentry',
            index=models.Index(condition=models.Q(('is_open', True)), fields=['created_at'], name='credit_open'),
        ),
        migrations.AddIndex(
            model_name='creditentry',
            index=models.Index(condition=models.Q(('key__isnull', False)), fields=['key', 'created_at'], name='credit_of_key'),
        ),
        migrations.AddConstraint(
            model_name='creditentry',
            constraint=models.UniqueConstraint(condition=models.Q(('kind__in', ['grant', 'top_up', 'settle'])), fields=('client', 'reference', 'kind'), name='credit_entry_unique'),
        ),
        migrations.AddConstraint(
            model_name='creditentry',
            constraint=models.UniqueConstraint(condition=models.Q(('is_open', True)), fields=('client', 'reference'), name='credit_reservation_unique'),
        ),
        migrations.AddIndex(
            model_name='creditorder',
            index=models.Index(fields=['client', '-id'], name='credit_orders'),
        ),
        migrations.AddConstraint(
            model_name='creditorder',
            constraint=models.UniqueConstraint(fields=('client', 'reference'), name='credit_order_unique'),
        ),
        migrations.AddConstraint(
            model_name='provideraccount',
            constraint=models.UniqueConstraint(fields=('client', 'issuer', 'subject'), name='provider_account_unique'),
        ),
        migrations.AddConstraint(
            model_name='provideraccount',
            constraint=models.UniqueConstraint(fields=('client', 'issuer', 'user'), name='provider_account_user_unique'),
        ),
        migrations.AddIndex(
            model_name='refreshtoken',
            index=models.Index(fields=['family'], name='refresh_family'),
        ),
        migrations.AddConstraint(
            model_name='savedview',
            constraint=models.UniqueConstraint(fields=('user', 'list_name', 'name'), name='saved_view_unique'),
        ),
        migrations.AddConstraint(
            model_name='subscription',
            constraint=models.CheckConstraint(condition=models.Q(('period_end__gt', models.F('period_start'))), name='subscription_period_has_length', violation_error_message='A period must end after it starts.'),
        ),
        migrations.RunSQL(
            _sql('audit'),
            'DROP TRIGGER audit_is_linked ON identity_auditevent;'
            ' DROP TRIGGER audit_is_append_only ON identity_auditevent;'
            ' DROP TRIGGER audit_is_append_only ON identity_auditlink;'
            ' DROP TRIGGER audit_is_append_only ON identity_auditanchor;'
            ' DROP FUNCTION identity_link_audit_event, identity_audit_hash,'
            ' identity_audit_is_append_only',
        ),
        migrations.RunSQL(
            _sql('credits'),
            'DROP FUNCTION identity_reserve_credits, identity_end_credits, identity_move_credits',
        ),
    ]
