"""The audit log's rows name what they are about by id alone, and form a chain of hashes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Nobody changes or deletes a row; foreign keys no longer empty a column.
APPEND_ONLY = """
DROP TRIGGER audit_is_append_only ON identity_auditevent;
DROP FUNCTION identity_audit_is_append_only();
CREATE FUNCTION identity_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only (% refused)', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON identity_auditevent
    FOR EACH ROW EXECUTE FUNCTION identity_audit_is_append_only();
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON identity_auditlink
    FOR EACH ROW EXECUTE FUNCTION identity_audit_is_append_only();
"""
# The hash names its columns: one that comes later leaves the hashes of older rows as they are.
CHAIN = """
CREATE FUNCTION identity_audit_hash(previous text, event identity_auditevent) RETURNS text
LANGUAGE sql STABLE SET timezone = 'UTC' SET search_path = public, pg_temp AS $$
    SELECT encode(sha256(convert_to(previous || jsonb_build_array(
        event.id, event.client_id, event.user_id, event.api_key_id, event.action, event.subject,
        event.changes, event.address, event.request_id, event.created_at
    )::text, 'UTF8')), 'hex')
$$;
CREATE FUNCTION identity_link_audit_event() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    previous text;
BEGIN
    -- One after the other; nothing but the commit follows, so nobody waits long for the lock.
    PERFORM pg_advisory_xact_lock(hashtextextended('audit', NEW.client_id));
    SELECT hash INTO previous FROM identity_auditlink
        WHERE client_id = NEW.client_id ORDER BY id DESC LIMIT 1;
    INSERT INTO identity_auditlink (client_id, event_id, hash)
        VALUES (NEW.client_id, NEW.id, identity_audit_hash(COALESCE(previous, ''), NEW));
    RETURN NULL;
END $$;
DO $$
DECLARE
    event identity_auditevent;
    previous text;
BEGIN
    FOR event IN SELECT * FROM identity_auditevent ORDER BY id LOOP
        SELECT hash INTO previous FROM identity_auditlink
            WHERE client_id = event.client_id ORDER BY id DESC LIMIT 1;
        INSERT INTO identity_auditlink (client_id, event_id, hash) VALUES (
            event.client_id, event.id, identity_audit_hash(COALESCE(previous, ''), event)
        );
    END LOOP;
END $$;
CREATE CONSTRAINT TRIGGER audit_is_linked AFTER INSERT ON identity_auditevent
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION identity_link_audit_event();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('identity', '0004_credit_of_key'),
    ]

    operations = [
        migrations.AlterField(
            model_name='auditevent',
            name='api_key',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='identity.apikey'),
        ),
        migrations.AlterField(
            model_name='auditevent',
            name='client',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, to='identity.client'),
        ),
        migrations.AlterField(
            model_name='auditevent',
            name='user',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name='AuditLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hash', models.CharField(max_length=64)),
                ('client', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='identity.client')),
                ('event', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='link', to='identity.auditevent')),
            ],
            options={
                'indexes': [models.Index(fields=['client', '-id'], name='audit_chain')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY + CHAIN),
    ]
