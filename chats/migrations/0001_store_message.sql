-- `chats_store_message` stores one message in its chat; `chats_count_messages` counts messages that
-- were stored in bulk. `chats_receive_message` (0001_receive_message.sql) receives a customer's
-- plain message. See docs/decisions/0038.

-- Whether a caller may see a chat: a key of the client or of its bot may; a public key must also
-- have opened the chat, for the same visitor. Only the team sees previews.
CREATE FUNCTION chats_may_see(
    chat chats_conversation, of_client bigint, of_bot bigint, of_public_key bigint, of_visitor bigint
) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT chat.client_id = of_client AND NOT chat.is_preview
    AND (of_bot IS NULL OR chat.bot_id = of_bot)
    AND (of_public_key IS NULL OR chat.opened_by_key_id = of_public_key AND chat.visitor_id = of_visitor)
$$;

-- Appends a message to its chat, which the caller has locked, counts it there, and announces it as
-- `event`; without an event it is not announced.
-- `message`: its columns. This sets the number and the client, and fills columns that are null: the
-- time, the recipient, and the values of an ordinary message.
-- `links`: signed links to the message's stored files, by the files' ids.
-- Returns the message and the chat as they are now, the message's JSON if it was announced, and
-- the live channels to signal.
CREATE FUNCTION chats_store_message(
    INOUT message chats_message, event uuid, links jsonb,
    OUT chat chats_conversation, OUT shown text, OUT channels text[]
) LANGUAGE plpgsql AS $$
DECLARE
    by_customer boolean := message.sender_type = 'customer';
    by_agent boolean := message.sender_type = 'agent';
    counts boolean;
    moves boolean;
    is_aside boolean;
    link record;
BEGIN
    message.is_note := coalesce(message.is_note, false);
    message.is_welcome := coalesce(message.is_welcome, false);
    message.created_at := coalesce(message.created_at, clock_timestamp());
    message.status := coalesce(message.status, 'sent');
    message.citations := coalesce(message.citations, '[]');
    message.translations := coalesce(message.translations, '{}');
    message.metadata := coalesce(message.metadata, '{}');
    message.customer_reaction := coalesce(message.customer_reaction, '');
    -- A note or a welcome only takes numbers. History (`sent_at`) changes no times, since nobody
    -- waits for an answer to it. The conversation's language is the one in which its customer
    -- writes.
    counts := NOT (message.is_note OR message.is_welcome);
    moves := counts AND message.sent_at IS NULL;
    -- The sentence of a handover does not become the last message, nor does anything that the bot
    -- or the platform says until the bot has the chat again.
    is_aside := coalesce(message.receipt ? 'handoff_reason', false);
    UPDATE chats_conversation c SET
        last_seq = c.last_seq + 1,
        last_event_seq = c.last_event_seq + (event IS NOT NULL)::integer,
        message_count = c.message_count + counts::integer,
        last_message_id = CASE
            WHEN NOT counts OR is_aside THEN c.last_message_id
            WHEN c.assign_type <> 'bot' AND message.sender_type IN ('bot', 'system')
                THEN c.last_message_id
            ELSE message.id END,
        last_message_at = CASE WHEN moves THEN message.created_at ELSE c.last_message_at END,
        first_response_at = CASE WHEN moves AND message.sender_type IN ('bot', 'agent')
            THEN coalesce(c.first_response_at, message.created_at)
            ELSE c.first_response_at END,
        unread_count = CASE WHEN NOT moves THEN c.unread_count
            WHEN by_customer THEN c.unread_count + 1
            WHEN by_agent THEN 0 ELSE c.unread_count END,
        waiting_since = CASE WHEN NOT moves THEN c.waiting_since
            WHEN by_customer AND c.assign_type <> 'bot'
                THEN coalesce(c.waiting_since, message.created_at)
            WHEN by_agent THEN NULL ELSE c.waiting_since END,
        return_at = CASE WHEN moves AND by_agent THEN NULL ELSE c.return_at END,
        language = CASE WHEN moves AND by_customer AND message.language <> ''
            THEN message.language ELSE c.language END
    WHERE c.id = message.conversation_id
    RETURNING c.* INTO STRICT chat;
    message.seq := chat.last_seq;
    message.client_id := chat.client_id;
    -- The customer; for the customer's own messages whoever has the chat, or nobody while it waits.
    IF message.recipient IS NULL AND NOT message.is_note THEN
        IF NOT by_customer THEN
            SELECT jsonb_build_object('type', 'customer', 'id', id::text, 'name', name)
            INTO message.recipient FROM chats_customer WHERE id = chat.customer_id;
        ELSIF chat.assign_type = 'bot' THEN
            SELECT jsonb_build_object('type', 'bot', 'id', id::text, 'name', bot_name)
            INTO message.recipient FROM bots_bot WHERE id = chat.bot_id;
        ELSIF chat.assign_type = 'agent' THEN
            SELECT jsonb_build_object('type', 'agent', 'id', id::text, 'name', full_name)
            INTO message.recipient FROM identity_user WHERE id = chat.assignee_id;
        END IF;
    END IF;
    INSERT INTO chats_message SELECT message.*;
    IF event IS NULL THEN
        RETURN;
    END IF;
    SELECT row_to_json(view)::text INTO shown FROM chats_api_message view
    WHERE view.id = message.id;
    FOR link IN SELECT key, value FROM jsonb_each_text(links) LOOP
        shown := replace(shown, '"url":"attachment:' || link.key || '"',
            '"url":' || to_json(link.value));
    END LOOP;
    channels := webhooks_announce(event, chat.client_id, 'message.created',
        '{"message":' || shown || '}', chat.id, chat.last_event_seq, message.created_at);
    IF by_customer AND chat.assignee_id IS NOT NULL THEN
        -- Enqueues a push to the chat's agent in each browser, as
        -- chats.services.core.push.enqueue_pushes does.
        INSERT INTO chatplatform_job (
            client_id, name, dedupe_key, args, due_at, trace_id, state, progress, last_error,
            priority
        )
        SELECT chat.client_id, 'chats.send_push', concat_ws(':', id, chat.id, 'message'),
            jsonb_build_object(
                'subscription_id', id, 'conversation_id', chat.id, 'kind', 'message'),
            clock_timestamp() + interval '5 seconds', '', 'queued', 0, '', 0
        FROM chats_pushsubscription WHERE user_id = chat.assignee_id
        ON CONFLICT (name, dedupe_key) WHERE state = 'queued' DO NOTHING;
    END IF;
END $$;

-- Messages that are stored in bulk (imported, or made for the demo) are of any age, so all messages
-- of the chats, which the caller has locked, are counted. A counter never decreases, since it may
-- be ahead of the messages so far.
CREATE FUNCTION chats_count_messages(chats uuid[]) RETURNS void LANGUAGE sql AS $$
UPDATE chats_conversation chat SET
    last_seq = greatest(chat.last_seq, stored.last_seq),
    message_count = greatest(chat.message_count, stored.message_count),
    last_message_id = stored.last_message_id,
    last_message_at = greatest(chat.last_message_at, stored.last_message_at),
    first_response_at = coalesce(chat.first_response_at, stored.first_response_at)
FROM (
    SELECT conversation_id,
        max(seq) AS last_seq,
        count(*) FILTER (WHERE counts) AS message_count,
        (array_agg(id ORDER BY seq DESC) FILTER (
            WHERE counts AND NOT coalesce(receipt ? 'handoff_reason', false)
        ))[1] AS last_message_id,
        max(created_at) FILTER (WHERE counts AND sent_at IS NULL) AS last_message_at,
        min(created_at) FILTER (
            WHERE counts AND sent_at IS NULL AND sender_type IN ('bot', 'agent')
        ) AS first_response_at
    FROM (
        SELECT *, NOT (is_note OR is_welcome) AS counts
        FROM chats_message WHERE conversation_id = ANY(chats)
    ) message
    GROUP BY conversation_id
) stored
WHERE chat.id = stored.conversation_id
$$;
