-- Tables in month partitions (docs/decisions/0025-month-partitions.md). A partition is a table of
-- the schema `months`, in which the application's role has no rights: it reaches the rows through
-- their table. Only the owner may make and drop tables, so these functions run as the owner.
CREATE SCHEMA IF NOT EXISTS months;

-- The lowest key of a month; for ids, the UUIDv7 of its first millisecond followed by zeros.
CREATE FUNCTION chatplatform_first_key(key_type regtype, month date) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN key_type = 'uuid'::regtype
        THEN lpad(to_hex((extract(epoch FROM month) * 1000)::bigint), 12, '0') || repeat('0', 20)
        ELSE to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00' END
$$;

-- Makes the partition of a month if it is missing. Rows of the month that are in the default
-- partition move into it.
CREATE FUNCTION chatplatform_make_month(parent regclass, month date) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    table_name name;
    key_name name;
    key_type regtype;
    made text;
BEGIN
    SELECT relname, attname, atttypid::regtype INTO STRICT table_name, key_name, key_type
    FROM pg_partitioned_table
    JOIN pg_class ON pg_class.oid = partrelid AND relnamespace = 'public'::regnamespace
    JOIN pg_attribute ON attrelid = partrelid AND attnum = partattrs[0]
    WHERE partrelid = parent;
    made := table_name || to_char(month, '_YYYY_MM');
    month := date_trunc('month', month);
    PERFORM pg_advisory_xact_lock(hashtextextended('months', parent::oid::bigint));
    IF to_regclass(format('months.%I', made)) IS NOT NULL OR EXISTS (
        SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = parent AND starts_with(relname, table_name || '_before')
            AND relname > table_name || '_before' || to_char(month, '_YYYY_MM')
    ) THEN
        RETURN false;
    END IF;
    -- Vacuumed and analysed after some thousand new rows, however many the month already has.
    EXECUTE format(
        'CREATE TABLE months.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
        ' INCLUDING STORAGE) WITH (autovacuum_vacuum_scale_factor = 0.02,'
        ' autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02)',
        made, table_name);
    EXECUTE format('LOCK TABLE months.%I IN ACCESS EXCLUSIVE MODE', table_name || '_default');
    EXECUTE format(
        'WITH moved AS (DELETE FROM months.%1$I WHERE %2$I >= %3$L AND %2$I < %4$L RETURNING *)'
        ' INSERT INTO months.%5$I SELECT * FROM moved',
        table_name || '_default', key_name, chatplatform_first_key(key_type, month),
        chatplatform_first_key(key_type, (month + interval '1 month')::date), made);
    EXECUTE format(
        'ALTER TABLE public.%I ATTACH PARTITION months.%I FOR VALUES FROM (%L) TO (%L)',
        table_name, made, chatplatform_first_key(key_type, month),
        chatplatform_first_key(key_type, (month + interval '1 month')::date));
    RETURN true;
END $$;

-- Drops a partition with all its rows. Only a role that may delete a table's rows may do so: only
-- the owner may drop months of the audit log.
CREATE FUNCTION chatplatform_drop_month(parent regclass, partition name) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp SET lock_timeout = '1s' AS $$
BEGIN
    IF NOT has_table_privilege(session_user, parent, 'DELETE') THEN
        RAISE EXCEPTION 'months of % may not be dropped by %', parent, session_user
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM FROM pg_inherits WHERE inhparent = parent
        AND inhrelid = format('months.%I', partition)::regclass
        AND partition <> parent::text || '_default';
    IF NOT FOUND THEN
        RAISE EXCEPTION '% is no month of %', partition, parent;
    END IF;
    EXECUTE format('DROP TABLE months.%I', partition);
END $$;

-- Updates the planner's statistics of a table as a whole, since autovacuum looks only at
-- partitions.
CREATE FUNCTION chatplatform_analyze(parent regclass) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM FROM pg_partitioned_table WHERE partrelid = parent;
    IF FOUND THEN EXECUTE format('ANALYZE %s', parent); END IF;
END $$;

-- For migrations: converts an existing table with its rows to month partitions. The old table
-- becomes the partition of everything older than the next month; nothing is copied. Unique indexes
-- without the key become plain ones. The caller recreates views of the table.
CREATE FUNCTION chatplatform_part_by_month(old regclass, key_name name) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    table_name name := (SELECT relname FROM pg_class WHERE oid = old);
    this_month date := date_trunc('month', now() AT TIME ZONE 'UTC');
    -- Named after the month that follows its rows.
    before name := table_name || '_before' || to_char(this_month + interval '1 month', '_YYYY_MM');
    key_type regtype := (SELECT atttypid FROM pg_attribute
        WHERE attrelid = old AND attname = key_name);
    ends text := chatplatform_first_key(key_type, (this_month + interval '1 month')::date);
    incoming text[];
    outgoing text[];
    indexes text[];
    grants text[];
    last_number bigint;
    statement text;
    is_empty boolean;
BEGIN
    EXECUTE format('LOCK TABLE public.%I IN ACCESS EXCLUSIVE MODE', table_name);
    EXECUTE format('ALTER TABLE public.%I SET SCHEMA months', table_name);
    EXECUTE format('ALTER TABLE months.%I RENAME TO %I', table_name, before);
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM months.%I)', before) INTO is_empty;
    EXECUTE format(
        'CREATE TABLE public.%I (LIKE months.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
        ' INCLUDING IDENTITY INCLUDING STORAGE) PARTITION BY RANGE (%I)',
        table_name, before, key_name);
    SELECT array_agg(format('GRANT %s ON public.%I TO %s', privilege_type, table_name,
            CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END))
        INTO grants
        FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = old AND grantee <> relowner;
    -- Foreign keys that lead here are made again at the end.
    SELECT array_agg(format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname,
            replace(pg_get_constraintdef(oid), format('months.%I', before), table_name)))
        INTO incoming FROM pg_constraint WHERE contype = 'f' AND confrelid = old;
    FOR statement IN SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
        FROM pg_constraint WHERE contype = 'f' AND confrelid = old
    LOOP EXECUTE statement; END LOOP;
    SELECT array_agg(format('ALTER TABLE public.%I ADD CONSTRAINT %I %s', table_name, conname,
            pg_get_constraintdef(oid)))
        INTO outgoing FROM pg_constraint WHERE contype = 'f' AND conrelid = old;
    SELECT array_agg(CASE
        WHEN indisprimary THEN format('ALTER TABLE public.%I ADD PRIMARY KEY (%s)', table_name,
            concat_ws(', ', pg_get_indexdef(indexrelid, 1, true),
                nullif(quote_ident(key_name), pg_get_indexdef(indexrelid, 1, true))))
        WHEN conname IS NOT NULL AND indkey::smallint[] @> ARRAY[attnum]
        THEN format('ALTER TABLE public.%I ADD CONSTRAINT %I %s', table_name, conname,
            pg_get_constraintdef(pg_constraint.oid))
        ELSE regexp_replace(CASE
            WHEN indkey::smallint[] @> ARRAY[attnum] AND indpred IS NULL
            THEN pg_get_indexdef(indexrelid)
            ELSE replace(pg_get_indexdef(indexrelid), 'CREATE UNIQUE', 'CREATE')
            END, ' ON months\.\S+ ', format(' ON public.%I ', table_name))
        END)
        INTO indexes
        FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attname = key_name
        LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u')
        WHERE indrelid = old;
    -- Indexes that are no longer unique are removed from the old table too.
    FOR statement IN
        SELECT CASE WHEN conname IS NULL THEN format('DROP INDEX %s', indexrelid::regclass)
            ELSE format('ALTER TABLE months.%I DROP CONSTRAINT %I', before, conname) END
        FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attname = key_name
        LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u')
        WHERE indrelid = old AND indisunique
            AND (NOT indkey::smallint[] @> ARRAY[attnum] OR indpred IS NOT NULL)
    LOOP EXECUTE statement; END LOOP;
    FOREACH statement IN ARRAY indexes || outgoing || grants LOOP EXECUTE statement; END LOOP;
    -- For rows without a month, so that no insert is ever refused.
    EXECUTE format('CREATE TABLE months.%I PARTITION OF public.%I DEFAULT',
        table_name || '_default', table_name);
    EXECUTE format(
        'WITH moved AS (DELETE FROM months.%I WHERE %I >= %L RETURNING *)'
        ' INSERT INTO public.%I OVERRIDING SYSTEM VALUE SELECT * FROM moved',
        before, key_name, ends, table_name);
    FOR statement IN SELECT attname FROM pg_attribute
        WHERE attrelid = old AND attidentity <> '' AND NOT attisdropped
    LOOP
        EXECUTE format('SELECT last_value FROM %s',
            pg_get_serial_sequence(format('months.%I', before), statement)) INTO last_number;
        PERFORM setval(pg_get_serial_sequence(format('public.%I', table_name), statement),
            last_number);
        EXECUTE format('ALTER TABLE months.%I ALTER %I DROP IDENTITY', before, statement);
    END LOOP;
    IF is_empty THEN
        EXECUTE format('DROP TABLE months.%I', before);
        PERFORM chatplatform_make_month(format('public.%I', table_name)::regclass, this_month);
    ELSE
        EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION months.%I'
            ' FOR VALUES FROM (MINVALUE) TO (%L)', table_name, before, ends);
    END IF;
    PERFORM chatplatform_make_month(format('public.%I', table_name)::regclass,
        (this_month + interval '1 month')::date);
    IF incoming IS NOT NULL THEN
        FOREACH statement IN ARRAY incoming LOOP EXECUTE statement; END LOOP;
    END IF;
END $$;
