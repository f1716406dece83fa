-- Gives the next events of a client their places in its feed; returns how many there were. One
-- statement for the caller: if the caller dies or stops, it takes effect completely or not at all,
-- and holds no lock. Plans are kept, also those made while the tables were empty: they must use the
-- indexes.
CREATE FUNCTION webhooks_number_events(of_client bigint, batch int) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE taken_count bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('webhooks_feed', of_client));
    -- A second statement: what it sees must be later than the lock, and so than the last numbering.
    WITH taken AS (
        DELETE FROM webhooks_unnumberedevent WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM webhooks_unnumberedevent
            WHERE client_id = of_client ORDER BY number LIMIT batch))
        RETURNING number, event_id
    ), numbered AS (
        INSERT INTO webhooks_feedentry (event_id, client_id, position)
        SELECT event_id, of_client, nextval('webhooks_feed_position') FROM (
            SELECT t.event_id FROM taken t
            WHERE EXISTS (SELECT FROM webhooks_event e WHERE e.id = t.event_id)
            ORDER BY t.number) AS ordered
    )
    SELECT count(*) INTO taken_count FROM taken;
    RETURN taken_count;
END $$;
