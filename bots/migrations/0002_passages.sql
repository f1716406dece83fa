-- The vectors and words of the passages of bots that are too large for a process's memory; questions
-- are searched in them (docs/decisions/0029). Rows are made from `bots_chunk` and can be made again.
-- Without the extension there is no such table, and every bot is searched in memory.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
        CREATE EXTENSION IF NOT EXISTS vector;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'The extension vector is there, and this role may not create it.';
END $$;

DO $$
BEGIN
    -- Older versions stop the scan at passages of other bots.
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'
            AND string_to_array(extversion, '.')::int[] >= ARRAY[0, 8]) THEN
        RAISE NOTICE 'Without pgvector 0.8 every bot is searched in memory.';
        RETURN;
    END IF;
    -- No foreign key, since tests empty tables by TRUNCATE. The trigger below deletes as it would.
    CREATE TABLE bots_passage (
        chunk_id bigint PRIMARY KEY,
        bot_id bigint NOT NULL,
        document_id bigint NOT NULL,
        -- Null for passages that are found only by their words.
        vector halfvec(384),
        words text[] NOT NULL,
        -- Its words, also as typed without diacritics.
        search_words text[] NOT NULL
    );
    CREATE INDEX passage_vector ON bots_passage USING hnsw (vector halfvec_ip_ops)
        WITH (m = 40, ef_construction = 200);
    CREATE INDEX passage_words ON bots_passage USING gin (search_words);
    CREATE INDEX passage_of_bot ON bots_passage (bot_id, chunk_id);
    CREATE INDEX passage_of_document ON bots_passage (document_id);

    CREATE FUNCTION bots_delete_passages() RETURNS trigger LANGUAGE plpgsql AS $f$
    BEGIN
        DELETE FROM bots_passage p USING gone WHERE p.chunk_id = gone.id;
        RETURN NULL;
    END $f$;
    CREATE TRIGGER delete_passages AFTER DELETE ON bots_chunk
        REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION bots_delete_passages();
END $$;
