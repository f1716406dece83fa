-- What the bot may say in a chat as it is now. `all`: the bot has the chat. `handover`: it has the
-- chat and is disabled, so a person must answer. `answers`: the chat waits for an agent, and until
-- one writes the bot answers what its documents hold, if the client wants that and the conversation
-- does not continue elsewhere at the provider. Null: nothing.
-- `is_approved`: an agent has approved a call, whose result the customer is told meanwhile.
-- The one place that decides this: chats/services/core/reply_policy.py asks it for Python.
CREATE OR REPLACE FUNCTION chats_bot_may_reply(chat chats_conversation, is_approved boolean DEFAULT false)
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
    ELSIF bot.is_disabled OR bot.agent_reply OR NOT bot.answer_while_waiting
        OR chat.handoff_reason = 'answered_elsewhere' THEN
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
