"""How pages write times: with their zone."""

DATETIME_FORMAT = "j M Y, H:i e"
