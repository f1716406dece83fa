-- What the bot may say in a chat as it is now. `all`: the bot has the chat. `handover`: it has the
-- chat and is disabled, so a person must answer. `answers`: the chat waits for an agent, and until
-- one writes the bot answers what its documents hold, if the client wants that. Null: nothing.
-- `is_approved`: an agent has approved a call, whose result the customer is told meanwhile.
-- The one place that decides this: chats/services/core/reply_policy.py asks it for Python.
CREATE FUNCTION chats_bot_may_reply(chat chats_conversation, is_approved boolean DEFAULT false)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    bot record;
BEGIN
    IF chat.status <> 'open' OR chat.assign_type = 'agent' THEN
        RETURN NULL;
    END IF;
    SELECT row.is_disabled, row.agent_reply, config.answer_while_waiting INTO bot
    FROM bots_bot row JOIN identity_clientconfig config ON config.client_id = row.client_id
    WHERE row.id = chat.bot_id;
    IF chat.assign_type = 'bot' AND bot.is_disabled THEN
        RETURN 'handover';
    ELSIF chat.assign_type = 'bot' OR is_approved AND NOT bot.is_disabled THEN
        RETURN 'all';
    ELSIF bot.is_disabled OR bot.agent_reply OR NOT bot.answer_while_waiting THEN
        RETURN NULL;
    END IF;
    -- Whether an agent has written since the chat was handed over, or since it was last reopened.
    PERFORM FROM chats_message
    WHERE conversation_id = chat.id AND sender_type = 'agent' AND NOT is_note
        AND seq > greatest(chat.read_from_seq, (
            SELECT seq FROM chats_message
            WHERE conversation_id = chat.id AND seq > chat.read_from_seq
                AND receipt ? 'handoff_reason'
            ORDER BY seq DESC LIMIT 1
        ));
    RETURN CASE WHEN NOT FOUND THEN 'answers' END;
END $$;

-- Locks the chat of a message for a reply to it. Whether the bot or the platform has replied, and what
-- the bot may say, is read by further statements, which see what was committed before the lock.
CREATE FUNCTION chats_lock_for_reply(
    message uuid, OUT chat chats_conversation, OUT is_answered boolean, OUT scope text
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT * INTO chat FROM chats_conversation
    WHERE id = (SELECT conversation_id FROM chats_message WHERE id = message)
    FOR NO KEY UPDATE;
    is_answered := EXISTS (
        SELECT FROM chats_message
        WHERE in_reply_to_id = message AND sender_type IN ('bot', 'system'));
    scope := chats_bot_may_reply(chat);
END $$;

-- Receives a customer's message of plain text, as `chats.services.reply.incoming.receive` does:
-- stores it, and the job of the reply if the bot may reply. Anything that needs more is refused
-- with a word and changes nothing; then `receive` does it.
-- `credits`: what the caller knows of a chat that waits for an agent for lack of credits. `short`:
-- it still lacks them; `enough`: no longer; `unknown`: such a chat is refused.
-- `candidates`: the languages that the text may be in. The message gets the first of them that is
-- the chat's or its bot's, else `guess`, else the chat's.
CREATE FUNCTION chats_receive_message(
    of_chat uuid, of_client bigint, of_bot bigint, of_public_key bigint, of_visitor bigint,
    message uuid, event uuid, words text, sent_id text, candidates text[], guess text,
    wants_reply boolean, trace text, credits text,
    OUT refusal text, OUT shown text, OUT seq integer, OUT owner varchar,
    OUT handoff_reason varchar, OUT channels text[], OUT has_job boolean
) LANGUAGE plpgsql AS $$
DECLARE
    near record;
    chat chats_conversation;
    stored chats_message;
    result record;
    reply_key text := 'chat:' || of_chat;
    scope text;
    lacks_credits boolean;
BEGIN
    SELECT c AS chat, customer.name AS customer_name,
        customer.blocked_until > now() AS is_blocked, bot.languages, config.burst_wait_ms,
        config.auto_translate, config.out_of_hours_message <> '{}' AS tells_hours
    INTO near
    FROM chats_conversation c
    JOIN chats_customer customer ON customer.id = c.customer_id
    JOIN bots_bot bot ON bot.id = c.bot_id
    JOIN identity_clientconfig config ON config.client_id = c.client_id
    WHERE c.id = of_chat AND chats_may_see(c, of_client, of_bot, of_public_key, of_visitor)
    FOR NO KEY UPDATE OF c;
    IF NOT FOUND THEN
        refusal := 'unknown';
        RETURN;
    END IF;
    chat := near.chat;
    -- Read by further statements, because the one that waited for the lock sees the state before
    -- the wait.
    scope := CASE WHEN wants_reply THEN chats_bot_may_reply(chat) END;
    lacks_credits := scope = 'answers' AND chat.handoff_reason = 'credits_used_up';
    refusal := CASE
        WHEN chat.status <> 'open' THEN chat.status
        WHEN near.is_blocked THEN 'blocked'
        WHEN near.auto_translate THEN 'translated'
        WHEN near.tells_hours AND chat.assign_type <> 'bot' THEN 'hours'
        WHEN lacks_credits AND credits = 'unknown' THEN 'credits'
    END;
    IF refusal IS NULL AND sent_id IS NOT NULL THEN
        SELECT 'repeated' INTO refusal FROM chats_message
        WHERE conversation_id = of_chat AND client_message_id = sent_id AND id >= of_chat;
    END IF;
    IF refusal IS NULL AND wants_reply AND near.burst_wait_ms > 0 THEN
        SELECT 'burst' INTO refusal FROM chatplatform_job
        WHERE name = 'chats.generate_reply' AND ordering_key = reply_key AND state = 'queued'
        LIMIT 1;
    END IF;
    IF refusal IS NOT NULL THEN
        RETURN;
    END IF;
    stored.id := message;
    stored.conversation_id := of_chat;
    stored.sender_type := 'customer';
    stored.sender_id := chat.customer_id;
    stored.sender_name := near.customer_name;
    stored.content := jsonb_build_array(jsonb_build_object('type', 'text', 'text', words));
    stored.text := words;
    stored.client_message_id := sent_id;
    stored.language := coalesce(
        (SELECT split_part(code, '-', 1)
            FROM unnest(chat.language || near.languages) WITH ORDINALITY AS expected (code, rank)
            WHERE split_part(code, '-', 1) = ANY (candidates) ORDER BY rank LIMIT 1),
        guess, chat.language);
    result := chats_store_message(stored, event, NULL);
    seq := (result.chat).last_seq;
    shown := result.shown;
    channels := result.channels;
    owner := chat.assign_type;
    handoff_reason := chat.handoff_reason;
    has_job := scope IS NOT NULL AND NOT (coalesce(lacks_credits, false) AND credits = 'short');
    IF has_job THEN
        -- The row that `chatplatform.jobs.enqueue` writes.
        INSERT INTO chatplatform_job (
            client_id, name, ordering_key, args, due_at, trace_id, state, progress, last_error,
            priority
        ) VALUES (
            chat.client_id, 'chats.generate_reply', reply_key,
            jsonb_build_object('message_id', message),
            clock_timestamp() + make_interval(secs => near.burst_wait_ms / 1000.0), trace,
            'queued', 0, '', 0
        );
    END IF;
END $$;
