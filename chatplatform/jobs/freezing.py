"""Jobs of a frozen client wait: they are neither dispatched nor claimed.

Jobs that process callbacks of providers still run: callbacks do not move with a client.

`identity.services.freezing` sets the column. This package must not import the app, which is above
it, so only SQL names the table.
"""

# A condition on the job `j`.
MAY_RUN = """NOT EXISTS (
    SELECT FROM identity_client f WHERE f.id = j.client_id AND f.frozen_at IS NOT NULL
      AND j.name NOT IN ('channels_app.process_items', 'channels_app.process_item_aside')
)"""
