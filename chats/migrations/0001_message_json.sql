-- A message as the API shows it: a column for each field of the shape `Message`, so that a row as
-- JSON is the message. A file that we store has `attachment:<id>` for its `url`, which Python
-- replaces by a signed link (chats/services/core/row_json.py). A migration that adds a column
-- recreates it (CONTRIBUTING, "Add a field").
CREATE FUNCTION chats_timestamp(moment timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

CREATE VIEW chats_api_message AS
SELECT
    id,
    conversation_id,
    seq,
    json_build_object('type', sender_type, 'id', sender_id, 'name', sender_name) AS sender,
    recipient,
    (
        SELECT coalesce(json_agg(piece), '[]') FROM (
            SELECT type, text, coalesce('attachment:' || attachment_id, url) AS url, file_name,
                mime_type, size_bytes, error, location, options, citations, template, transcript
            FROM jsonb_to_recordset(message.content) AS stored (
                type text, text text, url text, attachment_id text, file_name text,
                mime_type text, size_bytes bigint, error text, location jsonb, options jsonb,
                citations jsonb, template jsonb, transcript text
            )
        ) piece
    ) AS content,
    status,
    error,
    in_reply_to_id AS in_reply_to,
    is_note,
    is_welcome,
    client_message_id,
    provider_message_id,
    nullif(language, '') AS language,
    translations,
    sentiment,
    citations,
    chats_timestamp(created_at) AS created_at,
    chats_timestamp(delivered_at) AS delivered_at,
    chats_timestamp(read_at) AS read_at,
    chats_timestamp(edited_at) AS edited_at,
    chats_timestamp(deleted_at) AS deleted_at,
    nullif(customer_reaction, '') AS customer_reaction,
    metadata
FROM chats_message message;
