-- What a new message changes, for every door: `chats_count_message`. And the plain message of a
-- customer in one call: `chats_receive_message`. See docs/decisions/0027.

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

-- Stores a customer's message of plain text, as `chats.services.reply.incoming.receive` does, and
-- the job of the reply if the bot is to answer. Whatever needs more than that is refused by a
-- word, and nothing is changed: then `receive` does it.
-- `candidates`: the languages that the text may be in; the first of them counts that is the chat's
-- or its bot's, else `guess`, else the chat's.
CREATE FUNCTION chats_receive_message(
    of_chat uuid, of_client bigint, of_bot bigint, of_page bigint, of_visitor bigint,
    message uuid, event uuid, words text, sent_id text, candidates text[], guess text,
    wants_reply boolean, trace text,
    OUT refusal text, OUT shown text, OUT seq integer, OUT owner varchar,
    OUT handoff_reason varchar, OUT has_deliveries boolean, OUT has_job boolean
) LANGUAGE plpgsql AS $$
DECLARE
    chat record;
    reply_key text := 'chat:' || of_chat;
BEGIN
    SELECT c.id, c.client_id, c.bot_id, c.customer_id, c.assignee_id, c.status, c.assign_type,
        c.handoff_reason, c.language, c.last_seq, customer.name AS customer_name, bot.bot_name,
        bot.languages, config.burst_wait_ms, config.auto_translate, config.answer_while_waiting,
        config.out_of_hours_message <> '{}' AS tells_hours
    INTO chat
    FROM chats_conversation c
    JOIN chats_customer customer ON customer.id = c.customer_id
    JOIN bots_bot bot ON bot.id = c.bot_id
    JOIN identity_clientconfig config ON config.client_id = c.client_id
    WHERE c.id = of_chat AND chats_may_see(c, of_client, of_bot, of_page, of_visitor)
    FOR NO KEY UPDATE OF c;
    -- Read by further statements: the one that waited for the lock sees what was before the wait.
    refusal := CASE
        WHEN NOT FOUND THEN 'unknown'
        WHEN chat.status <> 'open' THEN chat.status
        WHEN chat.auto_translate THEN 'translated'
        WHEN chat.tells_hours AND chat.assign_type <> 'bot' THEN 'hours'
        WHEN wants_reply AND chat.assign_type = 'queue' AND chat.answer_while_waiting THEN 'queued'
        WHEN sent_id IS NOT NULL AND EXISTS (
            SELECT FROM chats_message
            WHERE conversation_id = of_chat AND client_message_id = sent_id AND id >= of_chat
        ) THEN 'repeated'
        WHEN wants_reply AND chat.burst_wait_ms > 0 AND EXISTS (
            SELECT FROM chatplatform_job
            WHERE name = 'chats.generate_reply' AND ordering_key = reply_key AND state = 'queued'
        ) THEN 'burst'
    END;
    IF refusal IS NOT NULL THEN
        RETURN;
    END IF;
    seq := chat.last_seq + 1;
    owner := chat.assign_type;
    handoff_reason := chat.handoff_reason;
    has_job := wants_reply AND owner = 'bot';
    INSERT INTO chats_message (
        id, client_id, conversation_id, seq, sender_type, sender_id, sender_name, recipient,
        content, text, client_message_id, language, created_at,
        citations, translations, metadata, status, is_note, is_welcome, customer_reaction
    ) VALUES (
        message, chat.client_id, of_chat, seq, 'customer', chat.customer_id, chat.customer_name,
        CASE owner
            WHEN 'bot' THEN
                jsonb_build_object('type', 'bot', 'id', chat.bot_id::text, 'name', chat.bot_name)
            WHEN 'agent' THEN (
                SELECT jsonb_build_object('type', 'agent', 'id', agent.id::text,
                    'name', agent.full_name)
                FROM identity_user agent WHERE agent.id = chat.assignee_id)
        END,
        jsonb_build_array(jsonb_build_object('type', 'text', 'text', words)), words, sent_id,
        coalesce(
            (SELECT split_part(code, '-', 1)
                FROM unnest(chat.language || chat.languages) WITH ORDINALITY AS expected (code, rank)
                WHERE split_part(code, '-', 1) = ANY (candidates) ORDER BY rank LIMIT 1),
            guess, chat.language),
        clock_timestamp(),
        '[]', '{}', '{}', 'sent', false, false, ''
    );
    SELECT counted.shown, counted.has_deliveries INTO shown, has_deliveries
    FROM chats_count_message(message, event, NULL) counted;
    IF has_job THEN
        -- As `chatplatform.jobs.enqueue` writes it.
        INSERT INTO chatplatform_job (
            client_id, name, ordering_key, args, due_at, trace_id, state, progress, last_error,
            weight
        ) VALUES (
            chat.client_id, 'chats.generate_reply', reply_key,
            jsonb_build_object('message_id', message),
            clock_timestamp() + make_interval(secs => chat.burst_wait_ms / 1000.0), trace,
            'queued', 0, '', 0
        );
    END IF;
END $$;
