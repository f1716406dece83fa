-- The audit log is append-only, and its rows form a chain of hashes
-- (docs/decisions/0018-audit-chain.md).

-- Only a role that may delete these rows gets as far as the trigger, which keeps the owner from
-- doing so by mistake. TRUNCATE, which tests need, fires no row trigger.
CREATE FUNCTION identity_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('chatplatform.changes_audit_log', true) = 'on' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    RAISE EXCEPTION '% is append-only (% refused)', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON identity_auditevent
    FOR EACH ROW EXECUTE FUNCTION identity_audit_is_append_only();
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON identity_auditlink
    FOR EACH ROW EXECUTE FUNCTION identity_audit_is_append_only();
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON identity_auditanchor
    FOR EACH ROW EXECUTE FUNCTION identity_audit_is_append_only();

-- The hash names its columns, so that a column added later does not change the hashes of older
-- rows.
CREATE FUNCTION identity_audit_hash(previous text, event identity_auditevent) RETURNS text
LANGUAGE sql STABLE SET timezone = 'UTC' SET search_path = public, pg_temp AS $$
    SELECT encode(sha256(convert_to(previous || jsonb_build_array(
        event.id, event.client_id, event.user_id, event.api_key_id, event.action, event.subject,
        event.changes, event.address, event.request_id, event.created_at
    )::text, 'UTF8')), 'hex')
$$;

-- A chain whose first rows were removed continues from the anchor.
CREATE FUNCTION identity_link_audit_event() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    previous text;
BEGIN
    -- One after the other; only the commit follows, so nobody waits long for the lock.
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
CREATE CONSTRAINT TRIGGER audit_is_linked AFTER INSERT ON identity_auditevent
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION identity_link_audit_event();
