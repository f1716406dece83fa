"""The format of times on pages, which includes the time zone."""

DATETIME_FORMAT = r"H:i e \N\g\à\y d-n-Y"
