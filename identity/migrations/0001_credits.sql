-- The credits of a call: reserved before it, settled or released after it. Each function does in
-- one call all that a reply needs from its client's account; `identity.services.credits` has the
-- rules around them.

-- Changes the balance of a locked account, and writes the entry. The columns refuse values below 0.
CREATE FUNCTION identity_move_credits(
    INOUT account identity_subscription, kind text, amount bigint, reference text,
    job bigint, key bigint, person bigint
) LANGUAGE plpgsql AS $$
BEGIN
    account.credits_left := account.credits_left + amount;
    IF kind IN ('reserve', 'settle', 'release') THEN
        -- Credits reserved in the last period may be returned in this one.
        account.credits_used := greatest(0, account.credits_used - amount);
    END IF;
    UPDATE identity_subscription
    SET credits_left = account.credits_left, credits_used = account.credits_used
    WHERE id = account.id;
    INSERT INTO identity_creditentry (
        client_id, kind, amount, balance_after, reference, is_open, job_id, key_id, created_by_id
    ) VALUES (
        account.client_id, kind, amount, account.credits_left, reference, kind = 'reserve', job, key,
        person
    );
END $$;

-- Reserves credits: true if they are, or were before, or if the call was paid. False, with nothing
-- changed, if more must be decided: fewer were reserved before, the account lacks them or is not
-- active, or the key has a daily cap.
CREATE FUNCTION identity_reserve_credits(
    of_client bigint, cost bigint, of_reference text, job bigint, of_key bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    account identity_subscription;
    is_covered boolean;
BEGIN
    SELECT * INTO account FROM identity_subscription WHERE client_id = of_client
    FOR NO KEY UPDATE;
    -- A further statement, which sees what was committed during the wait for the lock.
    SELECT bool_or(entry.kind = 'settle' OR -entry.amount >= cost) INTO is_covered
    FROM identity_creditentry entry
    WHERE client_id = of_client AND reference = of_reference AND (is_open OR entry.kind = 'settle');
    IF is_covered IS NOT NULL THEN
        RETURN is_covered;
    ELSIF account.is_active IS NOT TRUE OR account.credits_left < cost THEN
        RETURN false;
    END IF;
    PERFORM FROM identity_apikey WHERE id = of_key AND daily_credits IS NOT NULL;
    IF FOUND THEN
        RETURN false;
    END IF;
    PERFORM identity_move_credits(account, 'reserve', -cost, of_reference, job, NULL, NULL);
    RETURN true;
END $$;

-- Ends an open reservation: charges what was used, at most what was reserved, and returns the rest.
-- `charged` is null if there is no open reservation. `account` is as it is now.
CREATE FUNCTION identity_end_credits(
    of_client bigint, kind text, of_reference text, used bigint,
    OUT charged bigint, OUT account identity_subscription
) LANGUAGE plpgsql AS $$
DECLARE
    reserved bigint;
    of_key bigint;
BEGIN
    SELECT * INTO account FROM identity_subscription WHERE client_id = of_client
    FOR NO KEY UPDATE;
    UPDATE identity_creditentry SET is_open = false
    WHERE client_id = of_client AND reference = of_reference AND is_open
    RETURNING -amount, key_id INTO reserved, of_key;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    charged := least(greatest(used, 0), reserved);
    account := identity_move_credits(
        account, kind, reserved - charged, of_reference, NULL, of_key, NULL);
END $$;
