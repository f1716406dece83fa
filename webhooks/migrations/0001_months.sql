-- Tables in month partitions (docs/decisions/0025-month-partitions.md): by the event's id, which
-- begins with its time; attempts by their own time.
SELECT chatplatform_part_by_month('webhooks_event', 'id');
SELECT chatplatform_part_by_month('webhooks_payload', 'event_id');
SELECT chatplatform_part_by_month('webhooks_delivery', 'event_id');
SELECT chatplatform_part_by_month('webhooks_deliveryattempt', 'created_at');
