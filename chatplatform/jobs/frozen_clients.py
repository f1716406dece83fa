"""Jobs of a frozen client wait: they are neither dispatched nor claimed, except jobs that process
incoming messages of channels. The condition is SQL, since this app must not import `identity`."""

# A condition on the job `j`.
MAY_RUN = """NOT EXISTS (
    SELECT FROM identity_client f WHERE f.id = j.client_id AND f.frozen_at IS NOT NULL
      AND j.name NOT IN ('channels_app.process_items', 'channels_app.retry_deferred_item')
)"""
