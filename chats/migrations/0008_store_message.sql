-- What a new message changes, for every door: `chats_count_message`. The plain message of a customer
-- in one call is in `0010_receive_message.sql`. See docs/decisions/0027.

-- Whether a caller may see a chat: a key of the client or of its bot, and of pages the one that
-- opened it, for the same visitor. Previews are the staff's.
CREATE FUNCTION chats_may_see(
    chat chats_conversation, of_client bigint, of_bot bigint, of_page bigint, of_visitor bigint
) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT chat.client_id = of_client AND NOT chat.is_preview
    AND (of_bot IS NULL OR chat.bot_id = of_bot)
    AND (of_page IS NULL OR chat.opened_by_key_id = of_page AND chat.visitor_id = of_visitor)
$$;

-- Counts a stored message in its chat, which the caller has locked, and announces it as `event`;
-- an event of null announces nothing. `shown_as`: the message's JSON if it has stored files, whose
-- links are signed in Python.
-- A note or a welcome takes numbers only. Nobody waits for an answer to history (`sent_at`): it
-- moves no times. The conversation's language is the one in which its customer writes.
-- Returns the columns of the chat that a message changes, then what became of the event.
CREATE FUNCTION chats_count_message(
    message uuid, event uuid, shown_as text,
    OUT last_seq integer, OUT last_event_seq integer, OUT message_count integer,
    OUT last_message_id uuid, OUT last_message_at timestamptz, OUT first_response_at timestamptz,
    OUT unread_count integer, OUT waiting_since timestamptz, OUT return_at timestamptz,
    OUT language varchar, OUT shown text, OUT has_deliveries boolean
) LANGUAGE plpgsql AS $$
DECLARE
    said record;
BEGIN
    SELECT *, NOT (is_note OR is_welcome) AS counts,
        NOT (is_note OR is_welcome) AND sent_at IS NULL AS moves,
        sender_type = 'customer' AS by_customer, sender_type = 'agent' AS by_agent,
        sender_type IN ('bot', 'agent') AS answers
    INTO STRICT said FROM chats_message WHERE id = message;
    UPDATE chats_conversation chat SET
        last_seq = said.seq,
        last_event_seq = chat.last_event_seq + (event IS NOT NULL)::integer,
        message_count = chat.message_count + said.counts::integer,
        last_message_id = CASE WHEN said.counts THEN message ELSE chat.last_message_id END,
        last_message_at = CASE WHEN said.moves THEN said.created_at ELSE chat.last_message_at END,
        first_response_at = CASE WHEN said.moves AND said.answers
            THEN coalesce(chat.first_response_at, said.created_at)
            ELSE chat.first_response_at END,
        unread_count = CASE WHEN NOT said.moves THEN chat.unread_count
            WHEN said.by_customer THEN chat.unread_count + 1
            WHEN said.by_agent THEN 0 ELSE chat.unread_count END,
        waiting_since = CASE WHEN NOT said.moves THEN chat.waiting_since
            WHEN said.by_customer AND chat.assign_type <> 'bot'
                THEN coalesce(chat.waiting_since, said.created_at)
            WHEN said.by_agent THEN NULL ELSE chat.waiting_since END,
        return_at = CASE WHEN said.moves AND said.by_agent THEN NULL ELSE chat.return_at END,
        language = CASE WHEN said.moves AND said.by_customer AND said.language <> ''
            THEN said.language ELSE chat.language END
    WHERE chat.id = said.conversation_id
    RETURNING chat.last_seq, chat.last_event_seq, chat.message_count, chat.last_message_id,
        chat.last_message_at, chat.first_response_at, chat.unread_count, chat.waiting_since,
        chat.return_at, chat.language
    INTO STRICT last_seq, last_event_seq, message_count, last_message_id, last_message_at,
        first_response_at, unread_count, waiting_since, return_at, language;
    IF event IS NULL THEN
        RETURN;
    END IF;
    shown := coalesce(shown_as,
        (SELECT row_to_json(view)::text FROM chats_shown_message view WHERE id = message));
    has_deliveries := webhooks_announce(event, said.client_id, 'message.created',
        '{"message":' || shown || '}', said.conversation_id, last_event_seq, said.created_at);
END $$;

-- An import stores messages of any age, by the page: it counts all that its locked chats have.
-- A chat's counters never decrease: they may be ahead of the messages that came so far.
CREATE FUNCTION chats_count_imported(chats uuid[]) RETURNS void LANGUAGE sql AS $$
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
        (array_agg(id ORDER BY seq DESC) FILTER (WHERE counts))[1] AS last_message_id,
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
