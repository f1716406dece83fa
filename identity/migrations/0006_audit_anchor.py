"""Old months of the audit log are removed by the owner, who leaves a signed anchor for each."""

import chatplatform.crypto
import django.db.models.deletion
from django.db import migrations, models

# Only who may delete these rows at all gets as far as the trigger: it keeps the owner from doing so
# by mistake. A chain whose first rows were removed goes on from the anchor.
SQL = """
CREATE OR REPLACE FUNCTION identity_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('chatplatform.changes_audit_log', true) = 'on' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    RAISE EXCEPTION '% is append-only (% refused)', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON identity_auditanchor
    FOR EACH ROW EXECUTE FUNCTION identity_audit_is_append_only();
CREATE OR REPLACE FUNCTION identity_link_audit_event() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    previous text;
BEGIN
    -- One after the other; nothing but the commit follows, so nobody waits long for the lock.
    PERFORM pg_advisory_xact_lock(hashtextextended('audit', NEW.client_id));
    SELECT hash INTO previous FROM identity_auditlink
        WHERE client_id = NEW.client_id ORDER BY id DESC LIMIT 1;
    IF previous IS NULL THEN
        SELECT hash INTO previous FROM identity_auditanchor
            WHERE client_id = NEW.client_id ORDER BY id DESC LIMIT 1;
    END IF;
    INSERT INTO identity_auditlink (client_id, event_id, hash)
        VALUES (NEW.client_id, NEW.id, identity_audit_hash(COALESCE(previous, ''), NEW));
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('identity', '0005_audit_chain'),
    ]

    operations = [
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
            options={
                'indexes': [models.Index(fields=['client', '-id'], name='audit_anchor')],
            },
        ),
        migrations.RunSQL(SQL),
    ]
