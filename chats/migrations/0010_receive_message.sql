-- `chats_receive_message` answers while a chat waits for an agent, without going through Python.

-- Whether no agent has written since a chat was handed over, or since it was last read anew.
CREATE OR REPLACE FUNCTION chats_waits_for_first_word(of_chat uuid, read_from integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
SELECT NOT EXISTS (
    SELECT FROM chats_message
    WHERE conversation_id = of_chat AND sender_type = 'agent' AND NOT is_note
        AND seq > greatest(read_from, (
            SELECT seq FROM chats_message
            WHERE conversation_id = of_chat AND seq > read_from AND receipt ? 'handoff_reason'
            ORDER BY seq DESC LIMIT 1
        ))
)
$$;

-- Stores a customer's message of plain text, as `chats.services.reply.incoming.receive` does, and
-- the job of the reply if the bot is to answer. Whatever needs more than that is refused by a
-- word, and nothing is changed: then `receive` does it.
-- `credits`: what the caller knows of a chat that waits for an agent for lack of credits. `short`:
-- it still lacks them; `enough`: no longer; `unknown`: such a chat is refused. The release before
-- calls a function without this parameter, which therefore stays: dropped, it would fail under way.
-- `candidates`: the languages that the text may be in; the first of them counts that is the chat's
-- or its bot's, else `guess`, else the chat's.
CREATE OR REPLACE FUNCTION chats_receive_message(
    of_chat uuid, of_client bigint, of_bot bigint, of_page bigint, of_visitor bigint,
    message uuid, event uuid, words text, sent_id text, candidates text[], guess text,
    wants_reply boolean, trace text, credits text,
    OUT refusal text, OUT shown text, OUT seq integer, OUT owner varchar,
    OUT handoff_reason varchar, OUT has_deliveries boolean, OUT has_job boolean
) LANGUAGE plpgsql AS $$
DECLARE
    chat record;
    reply_key text := 'chat:' || of_chat;
    may_answer boolean;
BEGIN
    SELECT c.id, c.client_id, c.bot_id, c.customer_id, c.assignee_id, c.status, c.assign_type,
        c.handoff_reason, c.language, c.last_seq, c.read_from_seq,
        customer.name AS customer_name, bot.bot_name, bot.languages, config.burst_wait_ms,
        config.auto_translate, config.answer_while_waiting
            AND NOT (bot.is_disabled OR bot.agent_reply) AS answers_while_waiting,
        config.out_of_hours_message <> '{}' AS tells_hours
    INTO chat
    FROM chats_conversation c
    JOIN chats_customer customer ON customer.id = c.customer_id
    JOIN bots_bot bot ON bot.id = c.bot_id
    JOIN identity_clientconfig config ON config.client_id = c.client_id
    WHERE c.id = of_chat AND chats_may_see(c, of_client, of_bot, of_page, of_visitor)
    FOR NO KEY UPDATE OF c;
    may_answer := wants_reply AND chat.assign_type = 'queue' AND chat.answers_while_waiting;
    -- Read by further statements: the one that waited for the lock sees what was before the wait.
    refusal := CASE
        WHEN NOT FOUND THEN 'unknown'
        WHEN chat.status <> 'open' THEN chat.status
        WHEN chat.auto_translate THEN 'translated'
        WHEN chat.tells_hours AND chat.assign_type <> 'bot' THEN 'hours'
        WHEN may_answer AND chat.handoff_reason = 'credits_used_up' AND credits = 'unknown'
            THEN 'credits'
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
    IF may_answer THEN
        may_answer := (credits <> 'short' OR chat.handoff_reason IS DISTINCT FROM 'credits_used_up')
            AND chats_waits_for_first_word(of_chat, chat.read_from_seq);
    END IF;
    has_job := wants_reply AND (owner = 'bot' OR may_answer);
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
