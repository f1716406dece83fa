"""Jobs of a frozen client wait: they are neither dispatched nor claimed. Jobs that process incoming
messages of channels are exempt. The condition is SQL, since the model of clients belongs to a
higher app, which must not be imported here."""

# A condition on the job `j`.
MAY_RUN = """NOT EXISTS (
    SELECT FROM identity_client f WHERE f.id = j.client_id AND f.frozen_at IS NOT NULL
      AND j.name NOT IN ('channels_app.process_items', 'channels_app.retry_deferred_item')
)"""
