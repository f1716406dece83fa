"""Jobs of a frozen client wait: they are not dispatched and not claimed.

Except those that process what providers sent before: callbacks do not move with a client.

`identity.services.freezing` sets the column. Its app lies above this package: only statements
name it here.
"""

# For a job `j`.
MAY_RUN = """NOT EXISTS (
    SELECT FROM identity_client f WHERE f.id = j.client_id AND f.frozen_at IS NOT NULL
      AND j.name NOT IN ('channels_app.process_items', 'channels_app.process_item_aside')
)"""
