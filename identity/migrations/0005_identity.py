import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import chatplatform.crypto
import chatplatform.ids

# What was done stays written, whoever is connected. When a person or a key goes, Django empties
# the reference to it: that alone is let through. TRUNCATE, which tests need, fires no row trigger.
APPEND_ONLY = """
CREATE FUNCTION identity_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND to_jsonb(NEW) - 'user_id' - 'api_key_id' = to_jsonb(OLD) - 'user_id' - 'api_key_id'
        AND (NEW.user_id IS NULL OR NEW.user_id = OLD.user_id)
        AND (NEW.api_key_id IS NULL OR NEW.api_key_id = OLD.api_key_id)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'identity_auditevent is append-only (% refused)', TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON identity_auditevent
    FOR EACH ROW EXECUTE FUNCTION identity_audit_is_append_only();
"""
NOT_APPEND_ONLY = """
DROP TRIGGER audit_is_append_only ON identity_auditevent;
DROP FUNCTION identity_audit_is_append_only();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('identity', '0004_opening_grants'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='loginfailure',
            name='login_failure_address',
        ),
        migrations.RemoveIndex(
            model_name='loginfailure',
            name='login_failure_account',
        ),
        migrations.RenameModel(
            old_name='LoginFailure',
            new_name='Attempt',
        ),
        migrations.AddField(
            model_name='attempt',
            name='kind',
            field=models.CharField(choices=[('sign_in', 'Sign In'), ('ask_reset', 'Ask Reset'), ('try_reset', 'Try Reset'), ('register', 'Register'), ('add_user', 'Add User')], default='sign_in', max_length=10),
            preserve_default=False,
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(fields=['kind', 'address', 'created_at'], name='attempt_address'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(fields=['kind', 'account_hash'], name='attempt_account'),
        ),
        # Nothing wrote this table before: it is made anew, under a key that binds what it holds.
        migrations.DeleteModel(
            name='ChannelToken',
        ),
        migrations.CreateModel(
            name='ChannelToken',
            fields=[
                ('id', models.UUIDField(default=chatplatform.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('channel', models.CharField(max_length=10)),
                ('access_token', chatplatform.crypto.EncryptedTextField(editable=False)),
                ('user_external_id', models.CharField(blank=True, default='', max_length=200)),
                ('expires_at', models.DateTimeField(null=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='identity.client')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('client', 'channel'), name='channel_token_once')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
