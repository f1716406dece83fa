-- Appends an event to its client's log: the event, its row for numbering, a delivery for each
-- endpoint that takes its type (or for only one), and the body to send if there is a delivery.
-- `data` is JSON and sent as it is written. Returns the live channels to signal: that of the
-- client's feed (`feed_channel` in webhooks/services/events.py), and the dispatchers'. The body is
-- the one of `webhooks.shapes.webhook.encode_body`; a test compares the two.
CREATE FUNCTION webhooks_announce(
    event uuid, of_client bigint, event_type text, data text, conversation uuid,
    number_in_conversation integer, happened_at timestamptz, only_to uuid DEFAULT NULL
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    envelope text;
    body bytea;
BEGIN
    INSERT INTO webhooks_event (id, client_id, type, conversation_id, sequence, data, created_at)
    VALUES (event, of_client, event_type, conversation, number_in_conversation, data::jsonb,
        happened_at);
    INSERT INTO webhooks_unnumberedevent (client_id, event_id) VALUES (of_client, event);
    INSERT INTO webhooks_delivery (client_id, event_id, config_id, is_test)
    SELECT of_client, event, config.id, only_to IS NOT NULL FROM webhooks_webhookconfig config
    WHERE config.client_id = of_client
        AND (config.id = only_to
            OR only_to IS NULL AND config.is_active
                AND (config.event_types = '{}' OR event_type = ANY (config.event_types)));
    IF NOT FOUND THEN
        RETURN ARRAY['feed:' || of_client];
    END IF;
    envelope := format(
        '{"id":"evt_%s","type":%s,"timestamp":"%s","client_id":%s,"conversation_id":%s,"sequence":%s',
        replace(event::text, '-', ''), to_json(event_type),
        to_char(happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), of_client,
        coalesce('"' || conversation::text || '"', 'null'),
        coalesce(number_in_conversation::text, 'null'));
    body := convert_to(envelope || ',"is_thin":false,"data":' || data || '}', 'UTF8');
    IF length(body) > 20000 THEN
        body := convert_to(envelope || ',"is_thin":true,"data":null}', 'UTF8');
    END IF;
    INSERT INTO webhooks_payload (event_id, body) VALUES (event, body);
    -- The dispatchers know when the pause of an endpoint ends: until then there is nothing to send.
    RETURN ARRAY['feed:' || of_client] || CASE WHEN only_to IS NOT NULL OR EXISTS (
        SELECT FROM webhooks_webhookconfig config WHERE config.client_id = of_client AND config.is_active
            AND (config.paused_until IS NULL OR config.paused_until <= statement_timestamp())
    ) THEN ARRAY['deliveries'] END;
END $$;
