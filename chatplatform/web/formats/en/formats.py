"""The format of times on pages, which includes the time zone."""

DATETIME_FORMAT = "j M Y, H:i e"
