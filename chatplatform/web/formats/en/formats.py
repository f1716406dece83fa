"""The format of times on pages, with their time zone."""

DATETIME_FORMAT = "j M Y, H:i e"
